// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {SignedMath} from "@openzeppelin/contracts/utils/math/SignedMath.sol";
import {BaseManager} from "../BaseManager.sol";
import {AssetAdjustment, AssetBalance, ISubAccounts} from "../interfaces.sol";
import {FutureMath} from "./FutureMath.sol";
import {IFutureAsset, IFuturesManager, POSITION_STEP} from "./interfaces.sol";

/// Variation margin in cNGN. Every account has a ledger: positive is a claim, negative a debt. What a mark moves is
/// accrued to the ledgers when a position is touched; debts are paid from wrapped cNGN into the pool as far as there is
/// any, claims out of it as far as it reaches. Of a claim no more is paid out than it is worth at the fresh index: what an
/// old mark has added waits until the mark follows, or the position is closed.
///
/// Invariant: sum of all ledgers + what is not yet accrued = `pool`, except that after a shared loss the pool may hold
/// less than one unit of 1e-18 more for each ledger that was cut.
abstract contract VariationLedger is BaseManager, IFuturesManager {
    using SafeCast for int256;
    using SafeCast for uint256;

    struct Ledger {
        int256 amount;
        /// The share of a claim that is left after all losses, as it was when `amount` was written.
        uint256 shareAt;
        uint64 epoch;
    }

    /// Up to which price a position is accrued.
    struct Accrual {
        uint256 price;
        uint64 round;
    }

    /// Positions of an account that are not settled, all series added.
    struct OpenPositions {
        /// Sum of their sizes, in contracts at 1e18.
        uint256 size;
        /// Sum of the signed positions, in steps.
        int256 steps;
        /// Sum of steps times mark, in cNGN at 1e18: signed, for a short is owed.
        int256 worth;
    }

    /// To which price a series is accrued: its newest mark or settlement price, or the index at which a loss is shared until
    /// the next of them; and how much of it is.
    struct Book {
        uint256 price;
        /// The price of the asset that was newest.
        uint64 assetRound;
        /// Counts the prices of this book.
        uint64 round;
        uint256 accruedSize;
        uint256 size;
    }

    uint256 private constant FULL_SHARE = 1e54;
    /// A lower share ends its epoch, and the next begins at FULL_SHARE, so that no loss is rounded by more than one part in
    /// 1e36 of a claim.
    uint256 private constant LOW_SHARE = 1e36;

    /// The only asset whose positions are margined here.
    IFutureAsset public immutable futureAsset;
    /// Pays fees and carries margin.
    address public immutable wrappedUsdc;
    /// Pays variation margin.
    address public immutable wrappedCngn;
    /// Holds the wrapped cNGN of the pool. It belongs to this contract, which never withdraws.
    uint256 public immutable poolAccount;

    /// cNGN that debtors paid and claims have not drawn. Counts by itself, so that a gift to poolAccount is without
    /// effect.
    uint256 public pool;
    /// Sum of all claims, before rounding of shared losses.
    uint256 public totalClaims;
    /// What one unit of a claim is worth after all shared losses of this epoch.
    uint256 private share = FULL_SHARE;
    uint64 private epoch;
    /// The share with which an epoch ended.
    mapping(uint64 epoch => uint256) private leftOf;
    mapping(uint256 accountId => Ledger) private ledgers;
    mapping(uint256 accountId => mapping(uint256 subId => Accrual)) private accruals;
    mapping(uint256 subId => Book) private books;

    event VariationAccrued(uint256 indexed account, uint256 indexed subId, uint256 mark, int256 vm);
    /// Positive: drawn from the pool; negative: paid into it.
    event VariationPaid(uint256 indexed account, int256 amount);
    event AccruedAtIndex(uint256 indexed subId, uint256 index);
    event LossShared(uint256 indexed account, uint256 fromInsurance, uint256 fromClaims);

    error FM_NotAccrued();
    error FM_NotAccruedAtIndex();
    error FM_OnlyFutureAsset();
    error MW_UnknownManager();

    /// There is no cash asset: what is not margin is held in the two wrapped tokens.
    constructor(ISubAccounts subAccounts_, IFutureAsset futureAsset_, address usdc, address cngn)
        BaseManager(subAccounts_, address(0))
    {
        futureAsset = futureAsset_;
        wrappedUsdc = usdc;
        wrappedCngn = cngn;
        poolAccount = subAccounts_.createAccount(address(this), address(this));
    }

    /// Accrues the position before it changes. Called by the future asset only.
    function onPositionChange(uint256 accountId, uint256 subId, int256 pre, int256 post) external {
        if (msg.sender != address(futureAsset)) revert FM_OnlyFutureAsset();
        _accrue(accountId, subId, pre);
        Book storage book = books[subId];
        uint256 before = SignedMath.abs(pre);
        uint256 size = SignedMath.abs(post);
        book.accruedSize = book.accruedSize + size - before;
        book.size = book.size + size - before;
    }

    /// Accrues all positions of the accounts, then pays their debts and claims. Any caller, also
    /// while adjustments are paused.
    function settleVariation(uint256[] calldata accountIds) external {
        for (uint256 i = 0; i < accountIds.length; i++) {
            _requireManaged(accountIds[i]);
            _settle(accountIds[i]);
        }
    }

    /// From now on positions are accrued to the fresh index, until the mark of their series moves: for a loss to be shared by
    /// what claims are worth, where marks have not followed the index. A series that is accrued to within a hundredth of the
    /// index is passed over, so that no caller can begin again what others have accrued. Any caller.
    function accrueAtIndex() external {
        uint256 index = futureAsset.getIndexPrice();
        uint256[] memory subIds = futureAsset.openSeries();
        for (uint256 i = 0; i < subIds.length; i++) {
            (Book memory book,, bool isSettled) = _bookOf(subIds[i]);
            if (isSettled || _isNear(book.price, index)) continue;
            book.price = index;
            book.round += 1;
            book.accruedSize = 0;
            books[subIds[i]] = book;
            emit AccruedAtIndex(subIds[i], index);
        }
    }

    /// cNGN that the account is owed (positive) or owes, with what is not yet accrued.
    function variation(uint256 accountId) public view returns (int256 cngn) {
        cngn = _ledgerOf(accountId);
        AssetBalance[] memory held = subAccounts.getAccountBalances(accountId);
        for (uint256 i = 0; i < held.length; i++) {
            if (held[i].asset != address(futureAsset)) continue;
            (uint256 price,,) = futureAsset.valuation(held[i].subId);
            cngn += _unaccrued(accountId, held[i].subId, held[i].balance, price);
        }
    }

    // --- accrual

    /// The book of a series as it is from its newest price on, with that price.
    function _bookOf(uint256 subId) internal view returns (Book memory book, uint256 mark, bool isSettled) {
        uint64 assetRound;
        (mark, assetRound, isSettled) = futureAsset.valuation(subId);
        book = books[subId];
        if (book.assetRound == assetRound) return (book, mark, isSettled);
        book.price = mark;
        book.assetRound = assetRound;
        book.round += 1;
        book.accruedSize = 0;
    }

    /// A position, accrued to the price of its book.
    function _accrue(uint256 accountId, uint256 subId, int256 position)
        private
        returns (uint256 price, uint256 mark, bool isSettled)
    {
        Book memory book;
        (book, mark, isSettled) = _bookOf(subId);
        price = book.price;
        Accrual storage accrual = accruals[accountId][subId];
        if (accrual.round == book.round) return (price, mark, isSettled);
        if (position != 0) {
            int256 vm = FutureMath.variation(position, accrual.price, price);
            book.accruedSize += SignedMath.abs(position);
            _credit(accountId, vm);
            emit VariationAccrued(accountId, subId, price, vm);
        }
        books[subId] = book;
        accrual.price = price;
        accrual.round = book.round;
    }

    /// What the position is worth at a price beyond what is accrued.
    function _unaccrued(uint256 accountId, uint256 subId, int256 position, uint256 price)
        internal
        view
        returns (int256)
    {
        if (position == 0) return 0;
        return FutureMath.variation(position, accruals[accountId][subId].price, price);
    }

    /// Every position of every open series is accrued, to a settlement price or to within a hundredth of the fresh index, so
    /// that all claims are in the ledgers, and are worth what they say.
    function _requireAllAccrued() internal view {
        uint256[] memory subIds = futureAsset.openSeries();
        for (uint256 i = 0; i < subIds.length; i++) {
            (Book memory book,, bool isSettled) = _bookOf(subIds[i]);
            if (book.size == 0) continue;
            if (book.accruedSize != book.size) revert FM_NotAccrued();
            if (!isSettled && !_isNear(book.price, futureAsset.getIndexPrice())) revert FM_NotAccruedAtIndex();
        }
    }

    function _isNear(uint256 price, uint256 index) private pure returns (bool) {
        uint256 distance = price > index ? price - index : index - price;
        return distance * 100 <= index;
    }

    // --- ledgers and pool

    /// The ledger after all shared losses; a claim is rounded down.
    function _ledgerOf(uint256 accountId) internal view returns (int256) {
        Ledger storage ledger = ledgers[accountId];
        int256 amount = ledger.amount;
        if (amount <= 0 || (ledger.shareAt == share && ledger.epoch == epoch)) return amount;
        uint256 left = uint256(amount);
        uint256 from = ledger.shareAt;
        // A whole epoch leaves less than one part in 1e18, so that a few of them leave nothing.
        for (uint64 ended = ledger.epoch; ended != epoch && left != 0; ended++) {
            left = Math.mulDiv(left, leftOf[ended], from);
            from = FULL_SHARE;
        }
        return Math.mulDiv(left, share, from).toInt256();
    }

    function _credit(uint256 accountId, int256 amount) internal {
        int256 before = _ledgerOf(accountId);
        int256 current = before + amount;
        ledgers[accountId] = Ledger(current, share, epoch);
        totalClaims = totalClaims + _claim(current) - _claim(before);
    }

    /// Accrues everything, then pays: a debt from the account's wrapped cNGN, a claim out of the pool.
    function _settle(uint256 accountId) internal {
        _settle(accountId, subAccounts.getAccountBalances(accountId));
    }

    /// The same for a caller that has the account's balances. Positions are read of them; payments change none.
    function _settle(uint256 accountId, AssetBalance[] memory held) internal {
        OpenPositions memory open;
        int256 beyond;
        for (uint256 i = 0; i < held.length; i++) {
            if (held[i].asset != address(futureAsset)) continue;
            int256 position = held[i].balance;
            (uint256 price, uint256 mark, bool isSettled) = _accrue(accountId, held[i].subId, position);
            if (isSettled) continue;
            _addOpen(open, position, mark);
            if (price != mark) beyond += FutureMath.variation(position, price, mark);
        }
        int256 ledger = _ledgerOf(accountId);
        if (ledger > 0) {
            if (pool == 0) return;
            uint256 drawn = Math.min(pool, _drawable(ledger, beyond, open));
            pool -= drawn;
            _payVariation(accountId, drawn.toInt256());
        } else if (ledger < 0) {
            uint256 paid = Math.min(uint256(-ledger), _cngnOf(accountId));
            pool += paid;
            _payVariation(accountId, -paid.toInt256());
        }
    }

    /// What of a claim may be paid out: what it is worth as accrued, at the marks, which are `beyond` that, and at the fresh
    /// index; nothing while the index is stale, unless there is no position.
    function _drawable(int256 ledger, int256 beyond, OpenPositions memory open) private view returns (uint256) {
        if (open.size == 0) return uint256(ledger);
        (uint256 index,, bool isFresh) = futureAsset.indexDetail();
        if (!isFresh) return 0;
        int256 lower = SignedMath.min(beyond, beyond + _shift(open, index));
        return uint256(SignedMath.max(0, ledger + SignedMath.min(0, lower)));
    }

    function _addOpen(OpenPositions memory open, int256 position, uint256 mark) internal pure {
        int256 steps = position / POSITION_STEP.toInt256();
        open.size += SignedMath.abs(position);
        open.steps += steps;
        open.worth += steps * mark.toInt256();
    }

    /// What the positions are worth at the index beyond the marks, in cNGN; exact.
    function _shift(OpenPositions memory open, uint256 index) internal pure returns (int256) {
        return open.steps * index.toInt256() - open.worth;
    }

    function _payVariation(uint256 accountId, int256 amount) private {
        if (amount == 0) return;
        _credit(accountId, -amount);
        _move(wrappedCngn, poolAccount, accountId, amount);
        emit VariationPaid(accountId, amount);
    }

    /// Takes so much off the debt of a bankrupt account: the insurance account pays from its wrapped cNGN as far as it
    /// reaches, all claims bear the rest in equal proportion, of whatever series they are: there is one pool, and one ledger
    /// an account. The proportion is rounded down, so that the pool covers every claim.
    function _shareLoss(uint256 accountId, uint256 loss, uint256 insuranceAccount) internal {
        uint256 insured = insuranceAccount == 0 ? 0 : Math.min(loss, _cngnOf(insuranceAccount));
        if (insured > 0) {
            pool += insured;
            _move(wrappedCngn, insuranceAccount, poolAccount, insured.toInt256());
        }
        uint256 shared = loss - insured;
        _credit(accountId, loss.toInt256());
        if (shared > 0) {
            _requireAllAccrued();
            share = Math.mulDiv(share, totalClaims - shared, totalClaims);
            totalClaims -= shared;
            if (share < LOW_SHARE) {
                leftOf[epoch] = share;
                epoch += 1;
                share = FULL_SHARE;
            }
        }
        emit LossShared(accountId, insured, shared);
    }

    function _claim(int256 ledger) private pure returns (uint256) {
        return ledger > 0 ? uint256(ledger) : 0;
    }

    // --- balances

    /// Moves a balance between two accounts of this manager.
    function _move(address asset, uint256 from, uint256 to, int256 amount) internal {
        if (amount == 0) return;
        _movePosition(asset, 0, from, to, amount);
    }

    function _movePosition(address asset, uint256 subId, uint256 from, uint256 to, int256 amount) internal {
        subAccounts.managerAdjustment(AssetAdjustment(from, asset, subId, -amount, bytes32(0)));
        subAccounts.managerAdjustment(AssetAdjustment(to, asset, subId, amount, bytes32(0)));
    }

    function _cngnOf(uint256 accountId) internal view returns (uint256) {
        return subAccounts.getBalance(accountId, wrappedCngn, 0).toUint256();
    }

    function _usdcOf(uint256 accountId) internal view returns (uint256) {
        return subAccounts.getBalance(accountId, wrappedUsdc, 0).toUint256();
    }

    function _requireManaged(uint256 accountId) internal view {
        if (subAccounts.manager(accountId) != address(this)) revert MW_UnknownManager();
    }
}
