/** gitlab-python-runner (PyPI), which runs jobs by the shell: how a journey starts it. */
import { mustEnd, type Started, startPython } from './python.ts';

/** Registers the runner of the folder by a registration token; without a tag the program invents one. */
export const registerRunner = (folder: string, url: string, token: string, tags: readonly string[]) =>
  mustEnd(
    startPython(folder, [
      ...['-m', 'GitlabPyRunner', '--register', url, '--regtoken', token, '--desc', 'A runner of PyPI'],
      ...tags.flatMap((tag) => ['--tag', tag]),
    ]),
  );

/** Runs one job; it waits for one when there is none. Its exit code is 0 where the script succeeded. */
export const startOneJob = (folder: string): Started =>
  startPython(folder, ['-m', 'GitlabPyRunner', '--start', 'gitlab-runner.yml', '--once']);
