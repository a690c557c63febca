/** The mails in German. */
import type { Words } from '../events/mail-words.ts';

export const german: Words = {
  language: 'de',
  locale: 'de-DE',
  somebody: 'Jemand',
  rows: {
    assignees: 'Zuständig',
    labels: 'Labels',
    milestone: 'Meilenstein',
    due: 'Fällig',
    start: 'Beginn',
  },
  nobody: 'niemand',
  confidential: 'Dies ist vertraulich: Nicht alle sehen es.',
  internal: 'Eine interne Notiz: Nur das Team liest sie.',
  cut: 'Dies ist der Anfang eines langen Textes.',
  openNote: 'Kommentar ansehen',
  why: {
    own_activity: () => 'Sie erhalten diese Mail, weil Sie auch von dem hören möchten, was Sie selbst tun.',
    assigned: () => 'Sie erhalten diese Mail, weil Sie hierfür zuständig sind.',
    review_requested: () => 'Sie erhalten diese Mail, weil Sie um eine Prüfung gebeten werden.',
    mentioned: () => 'Sie erhalten diese Mail, weil Sie erwähnt wurden.',
    subscribed: () => 'Sie erhalten diese Mail, weil Sie dies oder eines seiner Labels abonniert haben.',
    author: () => 'Sie erhalten diese Mail, weil Sie dies verfasst haben.',
    unassigned: () => 'Sie erhalten diese Mail, weil Sie hierfür bis jetzt zuständig waren.',
    participating: () => 'Sie erhalten diese Mail, weil Sie hieran beteiligt sind.',
    owner: () => 'Sie erhalten diese Mail, weil es Ihre Pipeline ist.',
    member: (place) => `Sie erhalten diese Mail, weil Sie Mitglied von ${place} sind.`,
    custom: (place) => `Sie erhalten diese Mail, weil Sie in ${place} von solchen Ereignissen hören möchten.`,
    watching: (place) => `Sie erhalten diese Mail, weil Sie ${place} beobachten.`,
  },
  unsubscribe: 'Keine Mails mehr hierzu',
  settings: 'Ändern, wozu Sie Mails erhalten',
  sentBy: (site) => `Gesendet von Ashlar unter ${site}`,
};
