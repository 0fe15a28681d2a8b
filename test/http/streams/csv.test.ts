import t from 'tap'
import { csvRow } from '../../../src/http/streams/csv.ts'

t.test('values as RFC 4180 has them', async (t) => {
  t.equal(csvRow(['a', 1, true, null, undefined]), 'a,1,true,,\r\n')
  t.equal(csvRow(['a,b', 'say "no"', 'one\ntwo', 'r\r']), '"a,b","say ""no""","one\ntwo","r\r"\r\n')
  t.equal(csvRow([[], { a: 'b' }, 0.000001]), '[],"{""a"":""b""}",0.000001\r\n')
})
