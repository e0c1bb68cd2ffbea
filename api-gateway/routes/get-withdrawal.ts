import type { GatewayDeps, Handler } from '../context.js'
import { lookUpTransfer } from '../look-up-transfer.js'

/** `GET /v1/withdrawals/{action_hash}`: what became of one, re-read from the chain while its outcome is open. */
export const getWithdrawal = (deps: GatewayDeps): Handler => lookUpTransfer(deps, 'withdrawal')
