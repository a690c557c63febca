/** The faults of an instance: rules that somebody made, and what they do to its requests. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { now } from '../../platform/clock.ts';
import { LabError } from '../wire.ts';
import { answerOf, BadFault, type FaultRule, meet, parseFault } from './rules.ts';
import { shape } from './shape.ts';

/** Who answers a request: the app, a copy of before, or nobody any more. */
export type Answerer = { by: 'app' | 'copy' | 'nobody'; fault: number | null };

export type Faults = {
  list(): readonly FaultRule[];
  /** Throws LabError for what is no rule. */
  add(value: unknown): FaultRule;
  remove(id: number): void;
  clear(): void;
  /** Does to a request, and to what answers it, what the first rule says that it meets. */
  apply(request: IncomingMessage, response: ServerResponse): Promise<Answerer>;
};

const MAX_RULES = 1_000;

/** Resolves early where the client hangs up. */
async function pause(milliseconds: number, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  const hangUp = (): void => gone.abort();
  response.once('close', hangUp);
  await sleep(milliseconds, undefined, { signal: gone.signal }).catch(() => undefined);
  response.off('close', hangUp);
}

export function createFaults(draw: () => number = Math.random): Faults {
  let rules: readonly FaultRule[] = [];
  let last = 0;
  return {
    list: () => rules,
    add(value) {
      if (rules.length >= MAX_RULES) throw new LabError(`there are ${MAX_RULES} rules already`, 422);
      try {
        const rule = { id: last + 1, ...parseFault(value) };
        last += 1;
        rules = [...rules, rule];
        return rule;
      } catch (error) {
        throw error instanceof BadFault ? new LabError(error.message) : error;
      }
    },
    remove(id) {
      if (!rules.some((rule) => rule.id === id)) throw new LabError(`there is no rule ${id}`, 404);
      rules = rules.filter((rule) => rule.id !== id);
    },
    clear() {
      rules = [];
    },
    async apply(request, response) {
      const { method = 'GET', url = '/' } = request;
      const met = meet(rules, { method, path: url.replace(/\?.*$/s, '') }, draw);
      rules = met.rules;
      const { fault } = met;
      if (!fault) return { by: 'app', fault: null };
      if (fault.delay) await pause(fault.delay, response);
      if (response.destroyed) return { by: 'nobody', fault: fault.id };
      if (fault.cut === 'before') {
        request.socket.destroy();
        return { by: 'nobody', fault: fault.id };
      }
      shape(response, fault);
      const answer = answerOf(fault, now());
      if (answer) {
        response.writeHead(answer.status, answer.headers).end(answer.body);
        return { by: 'nobody', fault: fault.id };
      }
      const isRead = method === 'GET' || method === 'HEAD';
      return { by: fault.stale && isRead ? 'copy' : 'app', fault: fault.id };
    },
  };
}
