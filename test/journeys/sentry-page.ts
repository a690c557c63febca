/**
 * The script of a page of another origin: it reports its errors by @sentry/browser, and keeps them while it
 * is offline.
 */
import * as Sentry from '@sentry/browser';

/** The parts of a browser that it needs. */
declare const location: { search: string };
declare const document: {
  querySelector(selector: string): { addEventListener(event: string, listen: () => void): void } | null;
};

Sentry.init({
  dsn: new URLSearchParams(location.search).get('dsn') ?? '',
  release: 'page@3',
  environment: 'browser',
  transport: Sentry.makeBrowserOfflineTransport(Sentry.makeFetchTransport),
});
Sentry.setUser({ id: '8' });

function openGate(name: string): never {
  throw new TypeError(`the gate ${name} is stuck`);
}

document.querySelector('#open')?.addEventListener('click', () => openGate('north'));
let cracks = 0;
document.querySelector('#crack')?.addEventListener('click', () => {
  cracks += 1;
  Sentry.captureException(new Error(`crack ${cracks}`));
});
