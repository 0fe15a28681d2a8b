import { Metadata, type ServiceError } from '@grpc/grpc-js'
import t from 'tap'
import { clientError, isCutOff, isOutage } from '../../../src/adapters/eventstoredb/errors.ts'

const grpc = (code: number, details: string): ServiceError =>
  Object.assign(new Error(`${code}: ${details}`), { code, details, metadata: new Metadata() })

t.test(
  'a connection that HTTP/2 ended under a call is a lost one: appends are sent again',
  async (t) => {
    const reset = clientError(
      grpc(
        13,
        'Received RST_STREAM with code 2 triggered by internal client error: Session closed',
      ),
    )
    t.ok(isCutOff(reset))
    t.ok(isOutage(reset))
    const other = clientError(grpc(13, 'the server has a fault'))
    t.notOk(isCutOff(other))
  },
)
