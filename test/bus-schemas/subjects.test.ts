import { expect } from 'chai'
import {
  askGasStanding,
  askTransfer,
  askTransferRecord,
  transferSubject,
} from '../../bus-schemas/subjects.js'

describe('subjects', () => {
  it('of deposits and withdrawals are of their kind', () => {
    const hash = `0x${'ab'.repeat(32)}` as const
    expect(askTransfer('deposit')).to.equal('ask.deposit.submit')
    expect(askTransferRecord('withdrawal')).to.equal('ask.withdrawal.look_up')
    expect(askGasStanding('deposit')).to.equal('ask.deposit.gas')
    expect(transferSubject('withdrawal', hash)).to.equal(`transfers.withdrawal.${'ab'.repeat(32)}`)
  })
})
