import t from 'tap'
import { csvRow } from '../../../src/http/streams/csv.ts'

t.test('values as RFC 4180 has them', async (t) => {
  t.equal(csvRow(['a', 1, true, null, undefined]), 'a,1,true,,\r\n')
  t.equal(csvRow(['a,b', 'say "no"', 'one\ntwo', 'r\r']), '"a,b","say ""no""","one\ntwo","r\r"\r\n')
  t.equal(csvRow([[], { a: 'b' }, 0.000001]), '[],"{""a"":""b""}",0.000001\r\n')
})

t.test('text that a spreadsheet would take for a formula gets an apostrophe', async (t) => {
  const row = (...values: unknown[]) => csvRow(values, { escapeFormulas: true })
  for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '\uff1d1', '=a"b,c'])
    t.equal(row(text), `"'${text.replaceAll('"', '""')}"\r\n`)
  t.equal(row('a=1', '', ' =1', 'a;=1'), '"a=1",""," =1","a;=1"\r\n', 'quoted whole')
  t.equal(row(-1, 0.5, true, null, ['=1']), '-1,0.5,true,,"[""=1""]"\r\n', 'no text of anybody')
  t.equal(csvRow(['=1+1', '-1']), '=1+1,-1\r\n', 'as it is, unless asked for')
})
