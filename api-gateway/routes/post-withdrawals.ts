import type { GatewayDeps, Handler } from '../context.js'
import { submitTransfer } from '../submit-transfer.js'

/** `POST /v1/withdrawals`: carries out one signed withdrawal, at most once however often it is sent. */
export const postWithdrawals = (deps: GatewayDeps): Handler => submitTransfer(deps, 'withdrawal')
