/**
 * Iterations, in which groups plan their issues (facts: Resource entities, Iteration). The public API only
 * reads them, and none of its requests makes one: lists of them are empty.
 */
import Type from 'typebox';
import { date, dateTime, nullable } from '../../../platform/http/parameters/schema.ts';

export const IterationRecord = Type.Object({
  id: Type.Integer(),
  iid: Type.Integer(),
  sequence: Type.Integer(),
  group_id: Type.Integer(),
  title: nullable(Type.String({ description: 'Null for one that was scheduled automatically.' })),
  description: nullable(Type.String()),
  state: Type.Integer({ description: '1 is upcoming, 2 current, 3 closed.' }),
  created_at: nullable(dateTime()),
  updated_at: nullable(dateTime()),
  start_date: nullable(date()),
  due_date: nullable(date()),
  web_url: Type.String(),
});
