import { z } from 'zod'
import { transferErrorBody } from './error-body.js'
import { type Answer, type Operation, refused } from './operation.js'
import {
  depositReceipt,
  depositRecord,
  withdrawalReceipt,
  withdrawalRecord,
} from './transfer-record.js'
import { newDeposit, newWithdrawal } from './transfer-requests.js'
import { hash } from './values.js'

const TAG = 'Deposits and withdrawals'

const refusedTransfer = (description: string): Answer => ({ description, body: transferErrorBody })

const pathOfRecord = z.object({ action_hash: hash })
const broken = refused('Something broke on our side; its reason is in our log under `request_id`.')

/** What both requests may answer in the same words. */
const requestRefusals = {
  401: refusedTransfer('The signature does not authorize the action.'),
  413: refused('The body is larger than 64 KiB.'),
  415: refused('The body is compressed.'),
  422: refusedTransfer('It would revert on chain; `revert` names why.'),
  429: {
    ...refusedTransfer('Another one of this owner is in progress, or too many were sent.'),
    headers: ['Retry-After'],
  },
  500: broken,
  503: refusedTransfer('Paused, or something it needs does not answer; `error` says which.'),
} as const satisfies Record<number, Answer>

export const deposit: Operation = {
  id: 'deposit',
  tag: TAG,
  summary: 'Deposit USDC with one signed action',
  description:
    'Opens a perp margin account or tops one up; the venue pays the gas. Sending the same signed request again is safe ' +
    'at any time: it is answered from its record and never submitted twice. A second signed deposit is a second deposit.',
  body: newDeposit,
  responses: {
    200: { description: 'It was sent: its receipt.', body: depositReceipt },
    202: { description: 'The same deposit is already being submitted.', body: depositRecord },
    400: refusedTransfer('Malformed, or refused by what the chain says; `error` says what to do.'),
    ...requestRefusals,
    502: refusedTransfer(
      'Not known whether it was submitted: look it up or send the same request again.',
    ),
  },
}

export const lookUpDeposit: Operation = {
  id: 'lookUpDeposit',
  tag: TAG,
  summary: 'Look one deposit up by its action hash',
  description: 'While its outcome is open it is first read again from the chain.',
  path: pathOfRecord,
  responses: {
    200: { description: 'The deposit wherever it stands.', body: depositRecord },
    400: refusedTransfer('No action hash.'),
    404: refusedTransfer('No such deposit.'),
    500: broken,
    503: refusedTransfer('The record cannot be read now.'),
  },
}

export const withdraw: Operation = {
  id: 'withdraw',
  tag: TAG,
  summary: 'Withdraw USDC or cNGN with one signed action',
  description:
    'Pays out to the owner; the venue pays the gas and simulates first. Sending the same signed request again is safe: ' +
    'it is answered from its record. A second signed withdrawal is a second withdrawal.',
  body: newWithdrawal,
  responses: {
    200: { description: 'It was sent: its receipt.', body: withdrawalReceipt },
    202: { description: 'The same withdrawal is already being submitted.', body: withdrawalRecord },
    400: refusedTransfer(
      'Malformed, a spent nonce, or an account that the matching contract does not hold.',
    ),
    403: refusedTransfer('The account is another owner’s.'),
    ...requestRefusals,
    502: refusedTransfer(
      'Not known whether it was submitted: send the same request again or check the balance.',
    ),
  },
}

export const lookUpWithdrawal: Operation = {
  id: 'lookUpWithdrawal',
  tag: TAG,
  summary: 'Look one withdrawal up by its action hash',
  description: 'While its outcome is open it is first read again from the chain.',
  path: pathOfRecord,
  responses: {
    200: { description: 'The withdrawal wherever it stands.', body: withdrawalRecord },
    400: refusedTransfer('No action hash.'),
    404: refusedTransfer('No such withdrawal.'),
    500: broken,
    503: refusedTransfer('The record cannot be read now.'),
  },
}
