/** An agent waits for somebody outside: the run stops, and goes on from there in another attempt. */
export class Paused extends Error {
  override readonly name = 'Paused'
}
