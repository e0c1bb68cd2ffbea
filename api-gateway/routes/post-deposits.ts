import type { GatewayDeps, Handler } from '../context.js'
import { submitTransfer } from '../submit-transfer.js'

/** `POST /v1/deposits`: carries out one signed deposit, at most once however often it is sent. */
export const postDeposits = (deps: GatewayDeps): Handler => submitTransfer(deps, 'deposit')
