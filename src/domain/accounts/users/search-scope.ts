/** Users in searches. */
import { presentUserBasic, UserBasic } from '../../../kernel/users/records.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import type { SearchScope } from '../../search/index.ts';
import { searchUsers } from './search-queries.ts';

export const userSearch: SearchScope<typeof UserBasic> = {
  record: UserBasic,
  async find(request) {
    const around = { baseUrl: request.services.baseUrl(), settings: request.settings };
    return mapPage(await searchUsers(request), (row) => presentUserBasic(around, row));
  },
};
