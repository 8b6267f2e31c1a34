// Package history turns results files of many commits into a series per case,
// and tells where a series changed its level for good.
//
// # What is read
//
// [Load] reads a folder of files in the Go benchmark format. The files of a
// commit are runs of one point, whose value is the median of the files' own
// medians: a point counts once, however often it was measured. A series is one
// case in one unit on one machine; machines are never joined, nor models with
// different weights, where files say which they have. Points stand in
// the order of a repository's history if one is given, else of their commits'
// dates, else of the dates of measuring, of dates in file names, of the files.
//
// # How a change is found
//
// The values of a series are replaced by normal scores (van der Waerden 1952):
// the i'th of n values in order of size becomes the i/(n+1) quantile of the
// normal distribution. So an outlier weighs as much as the largest value of a
// quiet series and no more, whatever the tails. Two statistics look at them:
//
//	step  the largest standardized sum of the scores before a split, over all splits
//	bump  the largest between two splits, for a level that came back (circular
//	      binary segmentation: Olshen and others, Biostatistics 2004); the splits
//	      are of a grid of 48 places, and placed more finely when they are found
//
// Their significance is that of a permutation test: in how many random orders of
// the same points the statistic is as large. It is exact if points are
// exchangeable, whatever their distribution. A significant series is cut at the
// best split and both parts are tested again, as E-divisive does (Matteson and
// James, JASA 2014); at the end each split is placed once more between its
// neighbours. A segment has at least 3 points.
//
// E-divisive itself compares distances between all pairs of points. It takes a
// time that grows with the square of the points for each permutation, and a
// change of variance alone is a change to it. A test here holds the two against
// each other; docs/history.md has the figures.
//
// # False alarms
//
// The chance of any false change is [Options].Alpha, for all series together
// (Bonferroni): each series has an equal part of it, of which a segment gets
// what its length is of the series' (Meinshausen, Biometrika 2008), and each of
// the two statistics half. [History.Shuffled] counts how often histories in which
// nothing can have changed have a change: those of the same points in random order.
//
// No order of points can tell why the level changed: a machine that was
// replaced under the same name, a new kernel or a drift over weeks is a change
// too, and noise that carries over from point to point makes false alarms common:
// with 0.3 of it, half of the histories of 10 series have one. [Trends].Alike measures how much neighbouring points resemble each other
// within a level, and [Trends].Common names the points where most series moved
// the same way: there it was hardly the code.
//
// # What golang.org/x/perf/benchseries is for
//
// It compares an experiment with a baseline that was measured beside it, for
// each commit, and draws the ratios over time; it has no test for a change of
// level, and files without a baseline are none of its input. It does not serve
// here. Files are read with its sister benchfmt and filtered with benchproc.
package history
