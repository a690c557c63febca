/** Merge request records. There are no merge requests yet: lists of them are empty. */
import Type from 'typebox';

export const MergeRequestBasicRecord = Type.Object({
  id: Type.Integer(),
  iid: Type.Integer(),
  project_id: Type.Integer(),
  title: Type.String(),
  state: Type.String(),
  web_url: Type.String(),
});
