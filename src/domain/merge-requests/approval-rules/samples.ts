/** A rule of the project and one of the group for each user, who may approve by them. */
import type { Samples } from '../../../../test/support/samples.ts';

const names = { name: 'new', approvals_required: 1 };

export const samples: Samples = {
  after: ['repositories/protection'],
  rows: ({ project, group }) => `
    insert into approval_rules (project_id, namespace_id, name, rule_type, approvals_required, created_at, updated_at)
      select case x when 1 then ${project} end, case x when 2 then ${group} end, username, 'regular', 1, now(), now()
      from person, generate_series(1, 2) x order by id, x;
    insert into approval_rule_users (rule_id, user_id)
      select r.id, p.id from approval_rules r join person p on p.username = r.name;
    insert into approval_rule_groups (rule_id, group_id)
      select r.id, n.id from approval_rules r join namespaces n on n.path = replace(r.name, 'person', 'part');
    insert into approval_rule_branches (rule_id, protected_branch_id)
      select r.id, b.id from approval_rules r join protected_branches b on b.name = 'guarded-' || r.name
      where r.project_id is not null`,
  ownRows: ({ project, group }) => `
    insert into approval_rules (project_id, namespace_id, name, rule_type, approvals_required, created_at, updated_at)
      values (${project}, null, 'own', 'regular', 1, now(), now()), (null, ${group}, 'own', 'regular', 1, now(), now())`,
  objects: {
    'approval_rules/:approval_rule_id': {
      table: 'approval_rules',
      where: ({ project, group }, path) => {
        if (path.includes('merge_requests'))
          return `merge_request_id = (select id from merge_requests where project_id = ${project} and iid = 1)`;
        return path.startsWith('/groups') ? `namespace_id = ${group}` : `project_id = ${project}`;
      },
    },
    'rules/:approval_rule_id': 'approval_rules',
  },
  fields: {
    group_ids: { table: 'namespaces', where: `kind = 'group'` },
    protected_branch_ids: 'protected_branches',
  },
  requests: ({ groupId }) => {
    const ofGroup = (name: string) => ({ with: { ...names, group_ids: [groupId(name)] } });
    return {
      'POST /projects/:id/approval_rules': { with: names },
      'POST /projects/:id/approval_rules, of a group': ofGroup('world/part-1'),
      'POST /projects/:id/approval_rules, of what is out of sight': ofGroup('elsewhere'),
      'PUT /projects/:id/approval_rules/:approval_rule_id': { with: { approvals_required: 2 } },
      'POST /projects/:id/approval_settings/rules': { with: names },
      'PUT /projects/:id/approval_settings/rules/:approval_rule_id': { with: { approvals_required: 2 } },
      'POST /groups/:id/approval_rules': { with: names },
      'POST /groups/:id/approval_rules, of what is out of sight': ofGroup('elsewhere'),
      'PUT /groups/:id/approval_rules/:approval_rule_id': { with: { approvals_required: 2 } },
    };
  },
};
