import { expect, test } from 'vitest';
import { csvLine } from '../../src/handlers/csv.ts';

test.each([
  [['plain', 7, null, new Date(0)], 'plain,7,,1970-01-01T00:00:00.000Z\r\n'],
  [['a,b', 'say "hi"', 'two\nlines', 'two\r\nlines'], '"a,b","say ""hi""","two\nlines","two\r\nlines"\r\n'],
  [['=1+1', '+1', '-1', '@x', '\tx', '\rx'], `'=1+1,'+1,'-1,'@x,'\tx,"'\rx"\r\n`],
  [['=HYPERLINK("x","y")'], `"'=HYPERLINK(""x"",""y"")"\r\n`],
  [[-1, 'a=b', 'ü 🦀', ''], '-1,a=b,ü 🦀,\r\n'],
  [[], '\r\n'],
])('%j', (cells, line) => {
  expect(csvLine(cells)).toBe(line);
});
