/* calls.h - the calls of a reply as data: are they well formed, offered, allowed, demanded? */
#ifndef CALLS_H
#define CALLS_H

struct exam;

void call_json_detect(struct exam *x);
void call_name_detect(struct exam *x);
void call_id_detect(struct exam *x);
void call_index_detect(struct exam *x);
void call_schema_detect(struct exam *x);
void call_extra_detect(struct exam *x);
void call_demand_detect(struct exam *x);
void call_repeat_detect(struct exam *x);

#endif
