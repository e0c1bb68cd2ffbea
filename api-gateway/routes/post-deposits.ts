import { DepositReceipt, DepositRecord, NewDeposit } from '../../interface/transfer.js'
import type { Route } from '../route.js'
import { refusedTransfer, requestRefusals, submitTransfer } from '../transfers.js'

/** `POST /v1/deposits`: carries out one signed deposit, at most once however often it is sent. */
export const postDeposits: Route = {
  method: 'POST',
  path: '/v1/deposits',
  operation: {
    id: 'deposit',
    tag: 'Deposits and withdrawals',
    summary: 'Deposit USDC with one signed action',
    description:
      'Opens a perp margin account or tops one up; the venue pays the gas. Sending the same signed request again is safe ' +
      'at any time: it is answered from its record and never submitted twice. A second signed deposit is a second deposit.',
    body: NewDeposit,
    responses: {
      200: { description: 'It was sent: its receipt.', body: DepositReceipt },
      202: { description: 'The same deposit is already being submitted.', body: DepositRecord },
      400: refusedTransfer(
        'Malformed, or refused by what the chain says; `error` says what to do.',
      ),
      ...requestRefusals,
      502: {
        ...refusedTransfer(
          'Not known whether it was submitted: look it up or send the same request again.',
        ),
        headers: ['Retry-After'],
      },
    },
  },
  handler: (deps) => submitTransfer(deps, 'deposit'),
}
