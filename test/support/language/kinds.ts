/**
 * The largest count of each kind that `npm run check` accepts. Lower a limit when its count falls,
 * and never raise one for new wording. `npm run check:language -- --list 20` lists the places.
 */
export const limits = {
  'names that name a situation': 0,
  'names that begin with such a word': 5,
  'comments and test titles with such wording': 0,
  'comment lines over 100 columns': 5,
  'clauses in place of a noun': 0,
  "words of no field's documentation": 0,
  'sentences over 30 words': 0,
  'decisions over 500 words': 0,
  'pages over 1,500 words': 9,
  'value-or-promise tests': 2,
  'functions over 60 lines': 7,
  'lines in src, commands, queries and projections': 79_700,
} satisfies Record<string, number>

export type Kind = keyof typeof limits

/** A place with wording to avoid, or with too much of something. `amount` is 1 unless given. */
export type Finding = { kind: Kind; place: string; amount?: number }
