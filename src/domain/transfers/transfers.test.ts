/** Exports and imports over HTTP: who may, how often, what is kept how long, and what is replaced. */
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  makeGroup,
  makeProject,
  makeUser,
  uniqueName,
} from '../../../test/support/factories.ts';
import { makeReviewedProject } from '../../../test/support/merge-requests.ts';
import { makeTeam, own } from '../../../test/support/packages.ts';
import {
  archiveOf,
  downloaded,
  exported,
  importOver,
  lines,
  sendArchive,
} from '../../../test/support/transfers.ts';
import { until } from '../../../test/support/waiting.ts';
import { startWebServer } from '../../../test/support/web-server.ts';
import { moveClock } from '../../platform/clock.ts';
import { removeOldExports } from './exports/actions.ts';
