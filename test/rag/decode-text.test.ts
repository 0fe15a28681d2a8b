import iconv from 'iconv-lite'
import t from 'tap'
import { decodedText } from '../../src/rag/decode-text.ts'

const texts: Record<string, string> = {
  English: 'All human beings are born free and equal in dignity and rights.',
  'one word': 'Hello',
  French: 'Tous les êtres humains naissent libres et égaux en dignité.',
  Czech: 'Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv.',
  Russian: 'Все люди рождаются свободными и равными в своем достоинстве и правах.',
  Greek: 'Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια.',
  Hebrew: 'כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם.',
  Arabic: 'يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق.',
  Hindi: 'सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता प्राप्त है।',
  Thai: 'มนุษย์ทั้งหลายเกิดมามีอิสระ และเสมอภาคกันในเกียรติศักดิ์',
  Chinese:
    '人人生而自由,\n在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。\n',
  Japanese:
    'すべての人間は、\n生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。',
  Korean: '모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.',
  Emoji: 'Emoji 👨‍👩‍👧‍👦 and 𝒳, too.',
}

t.test('UTF-16 and UTF-32 are read with a byte order mark and without', async (t) => {
  for (const [name, text] of Object.entries(texts))
    for (const encoding of ['utf-16le', 'utf-16be', 'utf-32le', 'utf-32be'])
      for (const addBOM of [true, false])
        for (const times of [1, 3_000]) {
          const repeated = `${text}\n`.repeat(times)
          const read = decodedText(iconv.encode(repeated, encoding, { addBOM }))
          t.ok(read === repeated, `${name}, ${encoding}, mark: ${addBOM}, ${times} times`)
        }
})

t.test('UTF-8 stays UTF-8, also with NUL and other control characters in it', async (t) => {
  for (const text of Object.values(texts))
    for (const sample of [
      text,
      `${text}\0`,
      `a\0${text}`,
      `${text}\u0007\u001e\0${text}`,
      `${text}\0x`,
    ])
      t.equal(decodedText(Buffer.from(sample)), sample)
})

t.test('a letter of Latin-1 is read however late it comes', async (t) => {
  const ascii = 'Nothing but letters of English in here.\n'.repeat(5_000)
  for (const late of ['Café Müller, Göteborg', 'déjà vu à la crème brûlée']) {
    const bytes = Buffer.concat([Buffer.from(ascii), Buffer.from(late, 'latin1')])
    t.equal(decodedText(bytes), ascii + late)
  }
})

t.test('Latin-1 is read as browsers do', async (t) => {
  const bytes = iconv.encode('<meta charset="iso-8859-1"><p>“Wölfe” – 5 €</p>', 'windows-1252')
  t.match(decodedText(bytes), /“Wölfe” – 5 €/)
})

t.test('what was written into UTF-8 in another encoding costs nothing else', async (t) => {
  const utf8 = Buffer.from('Žluťoučký kůň úpěl. '.repeat(100))
  const bytes = Buffer.concat([utf8, Buffer.from('Müller', 'latin1'), utf8])
  t.equal(decodedText(bytes), `${utf8}Müller${utf8}`)
})

t.test('only whole characters of UTF-8 are read as such', async (t) => {
  const utf8 = 'Žluťoučký kůň úpěl ďábelské ódy.'.repeat(3)
  const cases: [hex: string, text: string][] = [
    ['c080', 'À€'],
    ['e09f80', 'àŸ€'],
    ['eda080', 'í\u00a0€'],
    ['f0808080', 'ð€€€'],
    ['f4908080', 'ô\ufffd€€'],
    ['e282', 'â‚'],
    ['f09f9880', '😀'],
  ]
  for (const [hex, text] of cases) {
    const bytes = Buffer.concat([Buffer.from(utf8), Buffer.from(hex, 'hex')])
    t.equal(decodedText(bytes), utf8 + text, hex)
  }
})

t.test('an encoding that a declaration cannot have is not taken from it', async (t) => {
  const xml = '<?xml version="1.0" encoding="utf-16"?><a>Größe</a>'
  t.equal(decodedText(Buffer.from(xml)), xml)
  t.equal(decodedText(Buffer.from(xml, 'latin1')), xml)
})

t.test('bytes without text are refused', async (t) => {
  const noise = Buffer.from(
    Array.from({ length: 5_000 }, (_, n) => (Math.imul(n + 1, 0x9e3779b1) >>> 24) & 0xff),
  )
  const png = Buffer.concat([
    Buffer.from('89504e470d0a1a0a0000000d4948445200000100000001000802000000d3103f31', 'hex'),
    noise,
  ])
  for (const bytes of [noise, png, Buffer.from([0, 1, 2, 3]), Buffer.alloc(100), Buffer.alloc(1)])
    t.throws(() => decodedText(bytes), { name: 'Unreadable' })
  t.equal(decodedText(Buffer.alloc(0)), '')
})
