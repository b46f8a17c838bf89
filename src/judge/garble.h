/* garble.h - text that is no language: loops, scripts out of place, control bytes, broken UTF-8. */
#ifndef GARBLE_H
#define GARBLE_H

struct exam;

void loop_detect(struct exam *x);
void soup_detect(struct exam *x);
void control_detect(struct exam *x);
void utf8_detect(struct exam *x);

#endif
