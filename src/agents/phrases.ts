const special = /[.*+?^${}()|[\]\\]/g

const alternatives = (phrases: readonly string[]): string =>
  phrases.map((phrase) => phrase.trim().replace(special, '\\$&').replace(/\s+/g, '\\s+')).join('|')

/** Finds any of some phrases as whole words, in any case, across any white space. */
export const phrasePattern = (phrases: readonly string[]): RegExp =>
  new RegExp(`(?<![\\p{L}\\p{N}_])(?:${alternatives(phrases)})(?![\\p{L}\\p{N}_])`, 'iu')

/** Finds them within words too, several times as fast. */
export const loosePattern = (phrases: readonly string[]): RegExp =>
  new RegExp(alternatives(phrases), 'iu')
