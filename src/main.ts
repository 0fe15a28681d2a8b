import { exitCodeOf } from './app/exit-code.ts'
import { serve } from './app/serve.ts'

serve(process.env).catch((error: Error) => {
  process.stderr.write(`${error.name}: ${error.message}\n`)
  process.exit(exitCodeOf(error))
})
