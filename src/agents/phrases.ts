const special = /[.*+?^${}()|[\]\\]/g

/** Finds any of some phrases as whole words, in any case, across any white space. */
export const phrasePattern = (phrases: readonly string[]): RegExp => {
  const alternatives = phrases.map((phrase) =>
    phrase.trim().replace(special, '\\$&').replace(/\s+/g, '\\s+'),
  )
  return new RegExp(`(?<![\\p{L}\\p{N}_])(?:${alternatives.join('|')})(?![\\p{L}\\p{N}_])`, 'iu')
}
