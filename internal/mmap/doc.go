// Package mmap maps files read-only and hands out memory that the garbage
// collector neither scans nor counts.
//
// A model's weights are read in place from a [File]; what a kernel repacks
// lives in an [Anon]:
//
//	File:  |page|page|page|..|     the bytes of the file, shared with the
//	       ^ Data()          ^ len  page cache; writing to them faults
//
//	Anon:  ....|2 MiB|2 MiB|pages|....   zeroed, from 2 MiB upwards aligned
//	           ^ Bytes()         ^ len    to 2 MiB so that Linux can use huge pages
//
// Many small pieces lie in one Anon, and in huge pages, if they come from an [Arena].
//
// A file of 2 MiB or more is advised to use huge pages as well. Linux then reads it in
// such pieces, from disk, if its file system can (ext4 since Linux 6.16, XFS); what
// the page cache has of it already stays in the pages that it came in.
//
// Memory that is unmapped waits for threads that are [Late] to leave it.
//
// A mapped file that another process truncates faults (SIGBUS) when the lost
// pages are read; that is the price of not copying it. [Guard] makes an error of
// it.
package mmap
