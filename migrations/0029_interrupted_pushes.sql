-- What a write is to do, where that is a git push of a user: if it is interrupted, the record of the push is made of it.
alter table repository_uses add column pushed jsonb;
