import { WithdrawalRecord } from '../../interface/transfer.js'
import type { Route } from '../route.js'
import { lookUpTransfer, lookupOperation } from '../transfers.js'

/** `GET /v1/withdrawals/{action_hash}`: what became of one, read again from the chain while its outcome is open. */
export const getWithdrawal: Route = {
  method: 'GET',
  path: '/v1/withdrawals/:action_hash',
  operation: lookupOperation('withdrawal', WithdrawalRecord),
  handler: (deps) => lookUpTransfer(deps, 'withdrawal'),
}
