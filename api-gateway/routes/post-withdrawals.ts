import { NewWithdrawal, WithdrawalReceipt, WithdrawalRecord } from '../../interface/transfer.js'
import type { Route } from '../route.js'
import { refusedTransfer, requestRefusals, submitTransfer } from '../transfers.js'

/** `POST /v1/withdrawals`: carries out one signed withdrawal, at most once however often it is sent. */
export const postWithdrawals: Route = {
  method: 'POST',
  path: '/v1/withdrawals',
  operation: {
    id: 'withdraw',
    tag: 'Deposits and withdrawals',
    summary: 'Withdraw USDC or cNGN with one signed action',
    description:
      'Pays out to the owner; the venue pays the gas and simulates first. Sending the same signed request again is safe: ' +
      'it is answered from its record. A second signed withdrawal is a second withdrawal.',
    body: NewWithdrawal,
    responses: {
      ...requestRefusals,
      200: { description: 'It was sent: its receipt.', body: WithdrawalReceipt },
      202: {
        description: 'The same withdrawal is already being submitted.',
        body: WithdrawalRecord,
      },
      400: refusedTransfer(
        'Malformed, a spent nonce, or an account that the matching contract does not hold.',
      ),
      403: refusedTransfer('The account is another owner’s, or the page’s origin is not allowed.'),
      502: {
        ...refusedTransfer(
          'Not known whether it was submitted: send the same request again or check the balance.',
        ),
        headers: ['Retry-After'],
      },
    },
  },
  handler: (deps) => submitTransfer(deps, 'withdrawal'),
}
