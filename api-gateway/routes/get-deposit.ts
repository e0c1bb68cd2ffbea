import { DepositRecord } from '../../interface/transfer.js'
import type { Route } from '../route.js'
import { lookUpTransfer, lookupOperation } from '../transfers.js'

/** `GET /v1/deposits/{action_hash}`: what became of one, read again from the chain while its outcome is open. */
export const getDeposit: Route = {
  method: 'GET',
  path: '/v1/deposits/:action_hash',
  operation: lookupOperation('deposit', DepositRecord),
  handler: (deps) => lookUpTransfer(deps, 'deposit'),
}
