/** Refuses the words that the glossary in ARCHITECTURE.md retired, as names of exports and of files: one word, one meaning. */
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** Words that no exported name and no file has as one of its own, with the field's word. */
const retiredWords: Record<string, string> = {
  asked: 'requested, or the request',
  birth: 'insert',
  born: 'inserted',
  conceive: 'prepare',
  crowd: 'group mention',
  crowds: 'group mentions',
  departure: 'move',
  door: 'ingest key, guard or context',
  doors: 'ingest keys, guards or contexts',
  forgotten: 'interrupted, or removed',
  hear: 'fan out, or listen',
  hearing: 'notification job',
  hears: 'is notified',
  letter: 'mail',
  letters: 'mails',
  looking: 'context',
  newborn: 'inserted, or prepared',
  occasion: 'notification event',
  occasions: 'notification events',
  prose: 'rendered Markdown',
  scene: 'context',
  settle: 'reconcile, or ensure',
  sides: 'relations',
  tell: 'add a system note, announce or send',
  tending: 'housekeeping',
  together: 'batch, or rules of parameters',
  told: 'response, or payload',
  understand: 'parse',
  upkeep: 'housekeeping',
};

/** Names that are retired as a whole: each had several meanings. */
const retiredNames: Record<string, string> = {
  Answer: 'HttpResponse',
  Held: 'RepositoryLease',
  Matter: 'EventContext',
  Place: 'ResourceParent, MembershipSource, PushTarget or a context',
  Question: 'a request',
  Saying: 'TextChange',
  Target: 'Noteable',
  Writing: 'a context',
  places: 'noteables, parents or targets',
  points: 'pointReads',
};
/** A bound and a time name their unit: MAX_TITLE_LENGTH, LOCK_TIMEOUT_MS. */
const vagueConstants =
  /^(MOST|LONGEST|LARGEST|DEEPEST|MAXIMUM)(_|$)|^(FEW|PATIENCE|LATELY|LOOK_AGAIN)$|_MILLISECONDS$/;

const exported =
  /^export (?:default )?(?:async )?(?:abstract )?(?:function\*?|const|let|class|type|interface) (\w+)/gm;

const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);

/** The objection to the name; undefined without one. */
function problemOf(name: string): string | undefined {
  const whole = Object.hasOwn(retiredNames, name) ? retiredNames[name] : undefined;
  if (whole !== undefined) return `say ${whole}`;
  if (vagueConstants.test(name)) return 'say MAX_… or …_TIMEOUT_MS, with the unit';
  const word = wordsOf(name).find((each) => Object.hasOwn(retiredWords, each));
  // A dead letter is the field's word for a message that cannot be delivered.
  if (word === undefined || /dead.?letter/i.test(name)) return undefined;
  return `"${word}" is retired: say ${retiredWords[word]}`;
}

let problems = 0;
const report = (where: string, name: string): void => {
  const problem = problemOf(name);
  if (problem === undefined) return;
  problems += 1;
  process.stderr.write(`${where}: ${name}: ${problem}\n`);
};

for (const file of globSync('{src,test,bench,scripts,architecture}/**/*.ts').sort()) {
  report(file, basename(file).replace(/(\.test)?\.ts$/, ''));
  for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(exported)) report(file, name);
}
if (problems > 0) process.exitCode = 1;
