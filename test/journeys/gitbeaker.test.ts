/** An independent JavaScript client, @gitbeaker/rest, over users, credentials and the instance. */
import { Gitlab } from '@gitbeaker/rest';
import { describe, expect, test } from 'vitest';
import { gpgKey, sampleKeys } from '../support/sample-keys.ts';
import { ids, inDays, picture, refusal, soon, useGitbeaker } from './gitbeaker-client.ts';
import { ROOT_TOKEN } from './support.ts';

const gitbeaker = useGitbeaker();

describe('people', () => {
  test('accounts', async () => {
    const { root } = gitbeaker;
    const ada = await root.Users.create({
      username: 'ada',
      name: 'Ada Lovelace',
      email: 'ada@example.com',
      forceRandomPassword: true,
      skipConfirmation: true,
      bio: 'Notes',
    });
    expect(ada).toMatchObject({
      username: 'ada',
      state: 'active',
      email: 'ada@example.com',
      is_admin: false,
    });
    expect(
      await refusal(
        root.Users.create({
          username: 'ada',
          name: 'x',
          email: 'x@example.com',
          password: 'correct horse battery',
        }),
      ),
    ).toEqual([409, 'Username has already been taken']);
    const changed = await root.Users.edit(ada.id, {
      location: 'London',
      external: true,
      note: 'first',
    });
    expect(changed).toMatchObject({ location: 'London', external: true, note: 'first', bio: 'Notes' });
    const pictured = await root.Users.edit(ada.id, {
      avatar: { content: picture, filename: 'ada.png' },
    });
    expect(pictured.avatar_url).toMatch(new RegExp(`^${gitbeaker.url}/uploads/.*[^/]+\\.png$`));
    expect(await root.Avatar.show('ada@example.com')).toHaveProperty('avatar_url');
    expect(await root.Users.all({ username: 'ADA' })).toMatchObject([{ id: ada.id, name: 'Ada Lovelace' }]);
    expect(await root.Users.show(ada.id)).toMatchObject({
      username: 'ada',
      email: 'ada@example.com',
    });
    expect(await refusal(root.Users.show(4_711))).toEqual([404, '404 User Not Found']);

    await root.Users.block(ada.id);
    expect(await root.Users.show(ada.id)).toMatchObject({ state: 'blocked' });
    expect(ids(await root.Users.all({ blocked: true }))).toEqual([ada.id]);
    await root.Users.unblock(ada.id);
    await root.Users.ban(ada.id);
    expect(await root.Users.show(ada.id)).toMatchObject({ state: 'banned' });
    await root.Users.unban(ada.id);
    await root.Users.deactivate(ada.id);
    expect(await root.Users.show(ada.id)).toMatchObject({ state: 'deactivated' });
    await root.Users.activate(ada.id);
    expect(await root.Users.show(ada.id)).toMatchObject({ state: 'active' });
    expect(await root.Users.showAssociationsCount(ada.id)).toMatchObject({
      groups_count: 0,
      projects_count: 0,
    });

    await root.Users.remove(ada.id, { hardDelete: true });
    await expect.poll(() => refusal(root.Users.show(ada.id)), soon).toEqual([404, '404 User Not Found']);
  });

  test("what is one's own", async () => {
    const { root } = gitbeaker;
    const { id, api } = await gitbeaker.makeUser('grace');
    expect(await api.Users.showCurrentUser()).toMatchObject({
      id,
      username: 'grace',
      email: 'grace@example.com',
    });

    const email = await api.UserEmails.create('second@example.com');
    expect(await api.UserEmails.show(email.id)).toMatchObject({
      email: 'second@example.com',
      confirmed_at: null,
    });
    await root.UserEmails.create('third@example.com', { userId: id, skipConfirmation: true });
    expect((await root.UserEmails.all({ userId: id })).map((each) => each.email)).toEqual([
      'grace@example.com',
      'second@example.com',
      'third@example.com',
    ]);
    await api.UserEmails.remove(email.id);
    expect(await refusal(api.UserEmails.show(email.id))).toEqual([404, '404 Email Not Found']);

    const key = await api.UserSSHKeys.create('laptop', sampleKeys.ed25519.key, {
      expiresAt: `${inDays(30)}T00:00:00Z`,
    });
    expect(key).toMatchObject({ title: 'laptop', usage_type: 'auth_and_signing' });
    expect(await refusal(root.UserSSHKeys.create('again', sampleKeys.ed25519.key))).toEqual([
      400,
      expect.stringContaining('has already been taken'),
    ]);
    expect(await api.UserSSHKeys.all()).toMatchObject([{ id: key.id }]);
    expect(await root.UserSSHKeys.all({ userId: id })).toMatchObject([{ id: key.id }]);
    expect(await root.Keys.show({ keyId: key.id })).toMatchObject({ user: { username: 'grace' } });
    await api.UserSSHKeys.remove(key.id);
    expect(await api.UserSSHKeys.all()).toEqual([]);

    const gpg = await api.UserGPGKeys.create(gpgKey.key);
    expect(await root.UserGPGKeys.all({ userId: id })).toMatchObject([{ id: gpg.id }]);
    expect(await api.UserGPGKeys.show(gpg.id)).toMatchObject({ key: gpgKey.key });
    await api.UserGPGKeys.remove(gpg.id);
    expect(await refusal(api.UserGPGKeys.show(gpg.id))).toEqual([404, '404 GPG Key Not Found']);

    expect(
      await api.Users.editStatus({ emoji: 'coffee', message: 'brewing', clearStatusAfter: '1_day' }),
    ).toMatchObject({ emoji: 'coffee', message: 'brewing' });
    expect(await root.Users.showStatus({ iDOrUsername: 'grace' })).toMatchObject({
      message: 'brewing',
      clear_status_at: expect.stringMatching(/Z$/),
    });
    expect(await api.Users.editCurrentUserPreferences(true, false)).toMatchObject({
      user_id: id,
      view_diffs_file_by_file: true,
      show_whitespace_in_diffs: false,
    });
    expect(await api.Users.showCurrentUserPreferences()).toMatchObject({ view_diffs_file_by_file: true });

    expect(await root.Users.follow(id)).toMatchObject({ username: 'grace' });
    expect(await api.Users.allFollowers(id)).toMatchObject([{ username: 'root' }]);
    expect(await api.Users.allFollowing(1)).toMatchObject([{ username: 'grace' }]);
    await root.Users.unfollow(id);
    expect(await api.Users.allFollowers(id)).toEqual([]);

    expect(await root.UserCustomAttributes.set(id, 'desk', 'by the window')).toEqual({
      key: 'desk',
      value: 'by the window',
    });
    expect(await root.UserCustomAttributes.all(id)).toEqual([{ key: 'desk', value: 'by the window' }]);
    expect(
      await root.Users.all({
        withCustomAttributes: true,
        customAttributes: { desk: 'by the window' },
      }),
    ).toMatchObject([{ id, custom_attributes: [{ key: 'desk' }] }]);
    await root.UserCustomAttributes.remove(id, 'desk');
    expect(await refusal(root.UserCustomAttributes.show(id, 'desk'))).toEqual([404, '404 Not found']);
  });

  test('sudo', async () => {
    const { root } = gitbeaker;
    const { id, username, api } = await gitbeaker.makeUser('sudo-target');
    expect(await root.Users.showCurrentUser({ sudo: id })).toMatchObject({ username });
    const project = await root.Projects.create({ name: 'By another', sudo: username });
    expect(project).toMatchObject({ path_with_namespace: `${username}/by-another`, creator_id: id });
    expect(
      await new Gitlab({ host: gitbeaker.url, token: ROOT_TOKEN, sudo: username }).Users.showCurrentUser(),
    ).toMatchObject({ id });
    expect(await refusal(root.Users.showCurrentUser({ sudo: 'nobody' }))).toEqual([
      404,
      "404 User with ID or username 'nobody' Not Found",
    ]);
    expect((await refusal(api.Users.showCurrentUser({ sudo: 1 })))[0]).toBe(403);
  });
});

describe('credentials', () => {
  test('personal access tokens and their rotation', async () => {
    const { root } = gitbeaker;
    const { id } = await gitbeaker.makeUser('token-holder');
    const made = await root.PersonalAccessTokens.create(id, 'reader', ['read_api'], {
      expiresAt: inDays(20),
    });
    expect(made).toMatchObject({ user_id: id, scopes: ['read_api'], active: true, expires_at: inDays(20) });
    const first = gitbeaker.connect(made.token);
    expect(await first.PersonalAccessTokens.show()).toMatchObject({ id: made.id, name: 'reader' });
    expect(await refusal(first.Projects.create({ name: 'No' }))).toEqual([403, 'insufficient_scope']);
    const rotated = await root.PersonalAccessTokens.rotate(made.id, { expiresAt: inDays(40) });
    expect(rotated).toMatchObject({ expires_at: inDays(40), scopes: ['read_api'] });
    const second = gitbeaker.connect(rotated.token);
    expect(await second.Users.showCurrentUser()).toMatchObject({ id });
    expect(ids(await root.PersonalAccessTokens.all({ userId: id, state: 'active' }))).toContain(rotated.id);
    await second.PersonalAccessTokens.remove();
    expect((await refusal(second.Users.showCurrentUser()))[0]).toBe(401);
    expect(await root.PersonalAccessTokens.show({ tokenId: rotated.id })).toMatchObject({
      revoked: true,
      active: false,
    });
  });

  test('tokens of projects and groups', async () => {
    const { root } = gitbeaker;
    const group = await gitbeaker.makeGroup('robots');
    const project = await root.Projects.create({ name: 'Arm', namespaceId: group.id });
    const kinds = [
      { tokens: root.ProjectAccessTokens, of: project.id, user: 'project' },
      { tokens: root.GroupAccessTokens, of: group.id, user: 'group' },
    ];
    for (const { tokens, of, user } of kinds) {
      const made = await tokens.create(of, 'robot', ['api'], inDays(30), { accessLevel: 30 });
      expect(made).toMatchObject({ name: 'robot', access_level: 30, scopes: ['api'] });
      const robot = gitbeaker.connect(made.token);
      expect(await robot.Users.showCurrentUser()).toMatchObject({
        id: made.user_id,
        bot: true,
        username: expect.stringMatching(`^${user}_${of}_bot_`),
      });
      expect(await robot.Projects.show(project.id)).toMatchObject({ id: project.id });
      expect(await tokens.show(of, made.id)).toMatchObject({ id: made.id, active: true });
      expect(ids(await tokens.all(of))).toEqual([made.id]);
      const rotated = await tokens.rotate(of, made.id, { expiresAt: inDays(60) } as never);
      const next = gitbeaker.connect(rotated.token);
      expect(await next.Users.showCurrentUser()).toMatchObject({ id: made.user_id });
      // A copy of the old token in some job is refused, and revokes nothing.
      expect((await refusal(robot.Users.showCurrentUser()))[0]).toBe(401);
      expect(await next.Users.showCurrentUser()).toMatchObject({ id: made.user_id });

      const other = await tokens.create(of, 'other', ['read_api'], inDays(30), { accessLevel: 20 });
      await tokens.revoke(of, other.id);
      expect((await refusal(gitbeaker.connect(other.token).Users.showCurrentUser()))[0]).toBe(401);
    }
  });

  test('deploy tokens and impersonation tokens', async () => {
    const { root } = gitbeaker;
    const { id, username } = await gitbeaker.makeUser('impersonated');
    const group = await gitbeaker.makeGroup('deployers');
    const project = await root.Projects.create({ name: 'Ship', namespaceId: group.id });
    for (const at of [{ projectId: project.id }, { groupId: group.id }]) {
      const made = await root.DeployTokens.create('deployer', ['read_repository', 'read_registry'], at);
      expect(made).toMatchObject({
        name: 'deployer',
        token: expect.stringMatching(/^gldt-/),
        scopes: ['read_repository', 'read_registry'],
        username: expect.stringContaining('deploy-token'),
      });
      expect(await root.DeployTokens.show(made.id, at)).toMatchObject({
        id: made.id,
        revoked: false,
      });
      expect(ids(await root.DeployTokens.all(at))).toEqual([made.id]);
      expect(ids(await root.DeployTokens.all({ active: true } as never))).toContain(made.id);
      expect((await refusal(gitbeaker.connect(made.token).Projects.show(project.id)))[0]).toBe(401);
      await root.DeployTokens.remove(made.id, at);
      expect(await root.DeployTokens.all(at)).toEqual([]);
    }
    const made = await root.UserImpersonationTokens.create(id, 'as them', ['api'], {
      expiresAt: inDays(3),
    });
    expect(made).toMatchObject({ impersonation: true, active: true });
    expect(await gitbeaker.connect(String(made.token)).Users.showCurrentUser()).toMatchObject({ username });
    expect(ids(await root.UserImpersonationTokens.all(id, { state: 'active' }))).toEqual([made.id]);
    await root.UserImpersonationTokens.revoke(id, made.id);
    expect(await root.UserImpersonationTokens.show(id, made.id)).toMatchObject({ revoked: true });
    expect((await refusal(gitbeaker.connect(String(made.token)).Users.showCurrentUser()))[0]).toBe(401);
  });
});

describe('the instance', () => {
  test('feature flags of a project', async () => {
    const { root } = gitbeaker;
    const project = await root.Projects.create({ name: 'Flags' });
    // The client turns names inside parameters into snake case too: of all strategies only this one has none.
    const strategies = [{ name: 'default', parameters: {}, scopes: [{ environment_scope: 'production' }] }];
    const flag = await root.FeatureFlags.create(project.id, 'dark_mode', 'new_version_flag', {
      description: 'at night',
      strategies,
    } as never);
    expect(flag).toMatchObject({ name: 'dark_mode', active: true, strategies });
    expect(await root.FeatureFlags.edit(project.id, 'dark_mode', { active: false } as never)).toMatchObject({
      active: false,
    });
    expect(await root.FeatureFlags.all(project.id, { scope: 'disabled' })).toMatchObject([
      { name: 'dark_mode' },
    ]);
    await root.FeatureFlags.remove(project.id, 'dark_mode');
    expect((await refusal(root.FeatureFlags.show(project.id, 'dark_mode')))[0]).toBe(404);
  });

  test('settings, statistics, version and licence', async () => {
    const { root } = gitbeaker;
    const { api } = await gitbeaker.makeUser('nosy');
    expect((await refusal(api.ApplicationSettings.show()))[0]).toBe(403);
    expect(
      await root.ApplicationSettings.edit({ defaultProjectVisibility: 'internal' } as never),
    ).toMatchObject({ default_project_visibility: 'internal' });
    expect(await root.Projects.create({ name: 'By default' })).toMatchObject({
      visibility: 'internal',
    });
    expect((await refusal(root.ApplicationSettings.edit({ plantumlEnabled: true } as never)))[0]).toBe(400);
    await root.ApplicationSettings.edit({ defaultProjectVisibility: 'private' } as never);
    expect(await root.ApplicationSettings.show()).toMatchObject({
      default_project_visibility: 'private',
    });
    expect(Number((await root.ApplicationStatistics.show()).projects)).toBeGreaterThan(0);
    expect(await api.Metadata.show()).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      enterprise: true,
    });
    expect(await root.License.show()).toMatchObject({ plan: 'ultimate', expired: false });
  });

  test('audit events say who did what', async () => {
    const { root } = gitbeaker;
    const group = await gitbeaker.makeGroup('watched');
    const project = await root.Projects.create({ name: 'Watched', namespaceId: group.id });
    await root.Projects.edit(project.id, { visibility: 'private', name: 'Renamed' });
    const [newest] = await root.AuditEvents.all({ projectId: project.id });
    expect(newest).toMatchObject({ author_id: 1, entity_id: project.id, entity_type: 'Project' });
    expect(await root.AuditEvents.show(newest?.id ?? 0, { projectId: project.id })).toEqual(newest);
    expect(await root.AuditEvents.all({ groupId: group.id })).toContainEqual(
      expect.objectContaining({ entity_id: group.id, entity_type: 'Group' }),
    );
    expect(await root.AuditEvents.all({ entityType: 'Project', entityId: project.id })).toContainEqual(
      expect.objectContaining({ event_name: 'project_created' }),
    );
  });
});
