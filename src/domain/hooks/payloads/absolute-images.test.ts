import { expect, test } from 'vitest';
import { absoluteImages } from './absolute-images.ts';

const at = { baseUrl: 'https://example.com', home: 'https://example.com/a/b' };

test.each([
  ['a file of texts', '![x](/uploads/1/a.png)', '![x](https://example.com/a/b/uploads/1/a.png)'],
  ['a path from the root', 'see ![](/x.png) there', 'see ![](https://example.com/x.png) there'],
  ['a relative one', '![x](x.png)', '![x](https://example.com/x.png)'],
  ['with a title and a size', '![x](/a.png "T"){width=1}', '![x](https://example.com/a.png "T"){width=1}'],
  ['several', '![a](/a)![b](/b)', '![a](https://example.com/a)![b](https://example.com/b)'],
  ['a picture that is a link', '[![a](/a)](/b)', '[![a](https://example.com/a)](/b)'],
  ['absolute ones', '![a](https://o.example/a) ![b](//o.example/b)', undefined],
  ['data', '![a](data:image/png;base64,AA)', undefined],
  ['a link', '[a](/uploads/1/a.png)', undefined],
  ['code', '`![a](/a)` and ``![a](/`a)``', undefined],
  ['a fence', '```\n![a](/a)\n```\n', undefined],
  ['a fence of tildes', '~~~md\n![a](/a)\n~~~', undefined],
  ['after code', '`x` ![a](/a)', '`x` ![a](https://example.com/a)'],
  ['after a fence', '```\nx\n```\n![a](/a)', '```\nx\n```\n![a](https://example.com/a)'],
  ['a lone backtick', '`\n\n![a](/a)', '`\n\n![a](https://example.com/a)'],
  ['one that does not end', '![a](/a\n)', undefined],
  ['nothing', '', undefined],
])('%s', (_, markdown, expected) => {
  expect(absoluteImages(markdown, at)).toBe(expected ?? markdown);
});
