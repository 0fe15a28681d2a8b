/** How many turns of the event loop something takes. */
export const turnsOf = async (work: () => Promise<unknown>): Promise<number> => {
  let turns = 0
  let next = setImmediate(function look() {
    turns++
    next = setImmediate(look)
  })
  await work()
  clearImmediate(next)
  return turns
}
