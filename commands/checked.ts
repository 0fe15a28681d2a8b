/** A decision made for its refusals alone: nothing comes of it. */
export const checked =
  <State>(decide: (state: State) => unknown) =>
  (state: State): [] => {
    decide(state)
    return []
  }
