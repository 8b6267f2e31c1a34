package sysinfo

func available() Value[Bytes] { return number[Bytes]("hw.memsize") }
