/** A small program that builds walls and runs out of stones: it reports its errors by @sentry/node, and prints the outcome. */
import * as Sentry from '@sentry/node';

const client = Sentry.init({
  dsn: process.env.SENTRY_DSN,
  release: 'walls@1.2.0',
  environment: 'quarry',
  includeLocalVariables: true,
});
const statuses: (number | null)[] = [];
client?.on('afterSendEvent', (_, { statusCode }) => statuses.push(statusCode ?? null));

function takeStone(stones: string[], course: number): string {
  const stone = stones.pop();
  if (stone === undefined) throw new RangeError(`no stone left for course ${course}`);
  return stone;
}

function layCourses(stones: string[], courses: number): void {
  for (let course = 1; course <= courses; course++) takeStone(stones, course);
}

/** Courses that fail, each in another way, and one error with a cause. */
function report(): void {
  Sentry.setUser({ id: '7', username: 'ada', email: 'ada@example.com' });
  Sentry.setTag('weather', 'rain');
  Sentry.addBreadcrumb({ category: 'yard', message: 'the cart is empty' });
  for (const stones of [[], ['granite'], ['slate', 'flint']]) {
    try {
      layCourses(stones, 5);
    } catch (error) {
      Sentry.captureException(error, { extra: { stones: stones.length, password: 'hunter2' } });
    }
  }
  try {
    layCourses([], 1);
  } catch (cause) {
    Sentry.captureException(new TypeError('the wall is not a wall', { cause }));
  }
  Sentry.captureMessage('The quarry is far away', 'warning');
}

const [, , what = 'report', count = '0'] = process.argv;
if (what === 'report') report();
for (let number = 1; number <= Number(count); number++) {
  Sentry.captureException(new Error(`Stone ${number} is cracked`));
  await Sentry.flush(10_000);
}
await Sentry.flush(10_000);
process.stdout.write(JSON.stringify(statuses));
// An uncaught error is reported before the program ends.
if (what === 'report') layCourses([], 1);
