import type { GatewayDeps, Handler } from '../context.js'
import { lookUpTransfer } from '../look-up-transfer.js'

/** `GET /v1/deposits/{action_hash}`: what became of one, re-read from the chain while its outcome is open. */
export const getDeposit = (deps: GatewayDeps): Handler => lookUpTransfer(deps, 'deposit')
