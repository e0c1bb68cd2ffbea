// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {SignedMath} from "@openzeppelin/contracts/utils/math/SignedMath.sol";
import {BaseManager} from "../BaseManager.sol";
import {AssetAdjustment, AssetBalance, ISubAccounts} from "../interfaces.sol";
import {FutureMath} from "./FutureMath.sol";
import {IFutureAsset, IFuturesManager} from "./interfaces.sol";

/// Variation margin in cNGN. Every account has a ledger: positive is a claim, negative a debt. What a mark moves is
/// accrued to the ledgers when a position is touched; debts are paid from wrapped cNGN into the pool as far as there is
/// any, claims out of it as far as it reaches.
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

    /// How much of a series is accrued to its newest price.
    struct Book {
        uint64 round;
        uint256 accruedSize;
        uint256 size;
    }

    uint256 private constant FULL_SHARE = 1e36;

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
    mapping(uint256 accountId => Ledger) private ledgers;
    mapping(uint256 accountId => mapping(uint256 subId => Accrual)) private accruals;
    mapping(uint256 subId => Book) private books;

    event VariationAccrued(uint256 indexed account, uint256 indexed subId, uint256 mark, int256 vm);
    /// Positive: drawn from the pool; negative: paid into it.
    event VariationPaid(uint256 indexed account, int256 amount);
    event LossShared(uint256 indexed account, uint256 fromInsurance, uint256 fromClaims);

    error FM_NotAccrued();
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

    /// Accrues the position to the newest price before it changes. Called by the future asset only.
    function onPositionChange(uint256 accountId, uint256 subId, int256 pre, int256 post) external {
        if (msg.sender != address(futureAsset)) revert FM_OnlyFutureAsset();
        _accrue(accountId, subId, pre);
        Book storage book = books[subId];
        uint256 before = SignedMath.abs(pre);
        uint256 size = SignedMath.abs(post);
        book.accruedSize = book.accruedSize + size - before;
        book.size = book.size + size - before;
    }

    /// Accrues all positions of the accounts to the newest prices, then pays their debts and claims. Any caller, also
    /// while adjustments are paused.
    function settleVariation(uint256[] calldata accountIds) external {
        for (uint256 i = 0; i < accountIds.length; i++) {
            _requireManaged(accountIds[i]);
            _settle(accountIds[i]);
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

    function _accrue(uint256 accountId, uint256 subId, int256 position) private {
        (uint256 price, uint64 round,) = futureAsset.valuation(subId);
        Book storage book = books[subId];
        if (book.round != round) {
            book.round = round;
            book.accruedSize = 0;
        }
        Accrual storage accrual = accruals[accountId][subId];
        if (accrual.round == round) return;
        if (position != 0) {
            int256 vm = FutureMath.variation(position, accrual.price, price);
            book.accruedSize += SignedMath.abs(position);
            _credit(accountId, vm);
            emit VariationAccrued(accountId, subId, price, vm);
        }
        accrual.price = price;
        accrual.round = round;
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

    /// Every position of every open series is accrued, so that all claims are in the ledgers.
    function _requireAllAccrued() internal view {
        uint256[] memory subIds = futureAsset.openSeries();
        for (uint256 i = 0; i < subIds.length; i++) {
            (, uint64 round,) = futureAsset.valuation(subIds[i]);
            Book storage book = books[subIds[i]];
            if (book.size == 0) continue;
            if (book.round != round || book.accruedSize != book.size) revert FM_NotAccrued();
        }
    }

    // --- ledgers and pool

    /// The ledger after all shared losses; a claim is rounded down.
    function _ledgerOf(uint256 accountId) internal view returns (int256) {
        Ledger storage ledger = ledgers[accountId];
        int256 amount = ledger.amount;
        if (amount <= 0 || (ledger.shareAt == share && ledger.epoch == epoch)) return amount;
        if (ledger.epoch != epoch) return 0;
        return Math.mulDiv(uint256(amount), share, ledger.shareAt).toInt256();
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
        for (uint256 i = 0; i < held.length; i++) {
            if (held[i].asset == address(futureAsset)) _accrue(accountId, held[i].subId, held[i].balance);
        }
        int256 ledger = _ledgerOf(accountId);
        if (ledger > 0) {
            uint256 drawn = Math.min(uint256(ledger), pool);
            pool -= drawn;
            _payVariation(accountId, drawn.toInt256());
        } else if (ledger < 0) {
            uint256 paid = Math.min(uint256(-ledger), _cngnOf(accountId));
            pool += paid;
            _payVariation(accountId, -paid.toInt256());
        }
    }

    function _payVariation(uint256 accountId, int256 amount) private {
        if (amount == 0) return;
        _credit(accountId, -amount);
        _move(wrappedCngn, poolAccount, accountId, amount);
        emit VariationPaid(accountId, amount);
    }

    /// Ends the debt of a bankrupt account: the insurance account pays from its wrapped cNGN as far as it reaches, all
    /// claims bear the rest in equal proportion. The proportion is rounded down, so that the pool covers every claim.
    function _shareLoss(uint256 accountId, uint256 insuranceAccount) internal {
        uint256 loss = uint256(-_ledgerOf(accountId));
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
            if (share == 0) {
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
