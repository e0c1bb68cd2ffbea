import { expect } from 'chai'
import { join } from 'node:path'
import { transferText } from '../../bus-schemas/transfers.js'
import { tokenUnits6 } from '../../core/money.js'
import type { TransferRecord } from '../../core/transfer.js'
import { openStoresReader } from '../../data/inspect-stores.js'
import { JOURNAL_MIGRATIONS } from '../../data/journal/journal-file.js'
import { openDatabase } from '../../data/open.js'
import { TRANSFER_MIGRATIONS } from '../../data/transfer-store.js'
import { tempDir } from '../support/temp-dir.js'
import { anUnsentTransfer } from '../support/transfer-bodies.js'

const HASH = `0x${'ab'.repeat(32)}`

describe('what an operator reads of the databases', () => {
  const dir = tempDir()
  before(() => {
    const open = (file: string, migrations: URL) =>
      openDatabase({ path: join(dir.path, file), migrations, synchronous: 'NORMAL' })
    const journal = open('executor.db', JOURNAL_MIGRATIONS)
    const intent = journal.prepare('INSERT INTO intents VALUES (?, ?, NULL, 0)')
    for (const id of ['M:6', 'M:16', 'M:6 life 2', `deposit:${HASH}`])
      intent.run(id, Buffer.alloc(32))
    journal.close()
    const transfers = open('deposits.db', TRANSFER_MIGRATIONS)
    const transfer = transfers.prepare(
      `INSERT INTO transfers (action_hash, owner, status, in_progress, record, request)
       VALUES (?, ?, 'confirmed', 0, ?, ?)`,
    )
    const add = (id: number, fields: Partial<TransferRecord>, request = '') => {
      const record = transferText.write({ ...anUnsentTransfer(), ...fields })
      transfer.run(Buffer.alloc(32, id), Buffer.alloc(20), record, request)
    }
    add(1, { nonce: 6n, amount: tokenUnits6(7n) }, '{"action":{"nonce":"6"}}')
    add(2, { nonce: 7n, amount: tokenUnits6(6n) })
    // More than are found at most have the digits elsewhere.
    for (let id = 3; id < 60; id += 1) add(id, { nonce: 9n, amount: tokenUnits6(66n) })
    add(60, { nonce: 66n })
    transfers.close()
  })

  const read = <Found>(look: (stores: ReturnType<typeof openStoresReader>) => Found): Found => {
    const stores = openStoresReader(dir.path)
    try {
      return look(stores)
    } finally {
      stores.close()
    }
  }
  const intentIds = (subject: string) =>
    read((stores) => stores.intents(subject).map(({ intentId }) => intentId))

  it('is the intent of that id with its later lives, and none whose id only ends alike', () => {
    expect(intentIds('M:6')).to.deep.equal(['M:6', 'M:6 life 2'])
    for (const subject of ['6', '%', 'M:_', ''])
      expect(intentIds(subject), subject).to.deep.equal([])
  })

  it('is the intent of an action hash', () => {
    expect(intentIds(HASH)).to.deep.equal([`deposit:${HASH}`])
  })

  it('is the transfer with that nonce, whatever else has the same digits, also where its request is no longer stored', () => {
    const noncesOf = (subject: string) =>
      read((stores) => stores.transfers(subject).map(({ record }) => record.nonce))
    expect(noncesOf('6')).to.deep.equal(['6'])
    expect(noncesOf('7')).to.deep.equal(['7'])
    expect(noncesOf('66')).to.deep.equal(['66'])
    for (const subject of ['8', '%', '-6', '0x6']) expect(noncesOf(subject)).to.deep.equal([])
  })

  it('is nothing where there are no databases', () => {
    const stores = openStoresReader(join(dir.path, 'none'))
    expect([stores.intents('M:6'), stores.transfers('6'), stores.trades('M:6')]).to.deep.equal([
      ...[[], [], []],
    ])
    stores.close()
  })
})
