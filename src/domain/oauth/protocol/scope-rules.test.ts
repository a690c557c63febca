import { describe, expect, test } from 'vitest';
import { scopeRefusal } from './scope-rules.ts';

const ofAdministrators = (scopes: string) => `It asks for what only administrators can give: ${scopes}.`;
const ofTrusted = (scopes: string) =>
  `On this site administrators give to trusted applications alone: ${scopes}.`;

describe('scopes that a user cannot give', () => {
  const [user, admin] = [false, true];
  const cases: [string, boolean, boolean, boolean, string | undefined][] = [
    ['api read_user', user, false, false, undefined],
    ['api sudo', user, false, false, ofAdministrators('sudo')],
    [
      'sudo admin_mode read_service_ping',
      user,
      true,
      true,
      ofAdministrators('sudo, admin_mode, read_service_ping'),
    ],
    ['api', user, false, true, undefined],
    ['api sudo admin_mode read_service_ping', admin, false, false, undefined],
    ['api sudo admin_mode read_user', admin, false, true, ofTrusted('api, sudo, admin_mode')],
    ['api sudo', admin, true, true, undefined],
    ['read_user openid read_service_ping', admin, false, true, undefined],
    ['', user, false, true, undefined],
  ];
  test.each(cases)(
    '%j: administrator %s, trusted %s, strangers refused %s',
    (scopes, admin, trusted, strict, text) => {
      const settings = { disable_admin_oauth_scopes: strict };
      expect(scopeRefusal(scopes.split(' ').filter(Boolean), { admin, trusted }, settings)).toBe(text);
    },
  );
});
