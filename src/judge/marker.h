/* marker.h - markers that are not whole: cut at the end of a text, cut at its start, one letter
 * wrong. */
#ifndef MARKER_H
#define MARKER_H

struct exam;

void marker_detect(struct exam *x);

#endif
