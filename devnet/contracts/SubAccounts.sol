// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {SignedMath} from "@openzeppelin/contracts/utils/math/SignedMath.sol";
import {
    AssetAdjustment,
    AssetAllowance,
    AssetBalance,
    AssetDelta,
    AssetTransfer,
    IAsset,
    IManager,
    ISubAccounts
} from "./interfaces.sol";

/// Margin accounts as NFTs, with signed balances of assets at 18 decimals. The asset validates each balance, the
/// account's manager validates the account as a whole.
contract SubAccounts is ISubAccounts, ERC721, ReentrancyGuard {
    using SafeCast for uint256;
    using SafeCast for int256;

    struct BalanceAndOrder {
        int240 balance;
        uint16 order;
    }

    struct HeldAsset {
        address asset;
        uint96 subId;
    }

    struct Allowance {
        uint256 positive;
        uint256 negative;
    }

    uint256 private constant MAX_DELTAS_PER_ACCOUNT = 100;

    uint256 public lastAccountId;
    uint256 public lastTradeId;
    mapping(uint256 accountId => address) public manager;
    mapping(uint256 accountId => uint256 tradeId) public lastAccountTradeId;
    mapping(uint256 accountId => HeldAsset[]) public heldAssets;
    mapping(uint256 accountId => mapping(address asset => mapping(uint256 subId => BalanceAndOrder))) public
        balanceAndOrder;
    /// Keyed by the owner too: a transferred account loses the consents of its former owner.
    mapping(
        uint256 accountId => mapping(address owner => mapping(address asset => mapping(address delegate => Allowance)))
    ) private allowances;

    event AccountCreated(address indexed owner, uint256 indexed accountId, address indexed manager);
    event AssetTransferred(
        uint256 indexed fromAcc,
        uint256 indexed toAcc,
        address asset,
        uint256 subId,
        int256 amount,
        bytes32 assetData,
        uint256 tradeId
    );
    event BalanceAdjusted(
        uint256 indexed accountId,
        address indexed manager,
        bytes32 indexed assetAndSubId,
        int256 amount,
        int256 preBalance,
        int256 postBalance,
        uint256 tradeId
    );

    error AC_CannotTransferAssetToOneself(address caller, uint256 accountId);
    error AC_OnlyManager();
    error AC_NotOwnerOrERC721Approved(
        address spender, uint256 accountId, address owner, address manager, address approved
    );
    error DL_DeltasTooLong();
    error NotEnoughSubIdOrAssetAllowances(
        address caller, uint256 accountId, int256 amount, uint256 subIdAllowance, uint256 assetAllowance
    );

    constructor() ERC721("Venue Subaccounts", "SUB") {}

    // --- accounts and consent

    function createAccount(address owner, address manager_) external returns (uint256 newId) {
        newId = ++lastAccountId;
        manager[newId] = manager_;
        _mint(owner, newId);
        emit AccountCreated(owner, newId, manager_);
    }

    function setAssetAllowances(uint256 accountId, address delegate, AssetAllowance[] calldata given) external {
        address owner = ownerOf(accountId);
        if (!_isAuthorized(owner, msg.sender, accountId)) {
            revert AC_NotOwnerOrERC721Approved(
                msg.sender, accountId, owner, manager[accountId], _getApproved(accountId)
            );
        }
        for (uint256 i = 0; i < given.length; i++) {
            allowances[accountId][owner][given[i].asset][delegate] = Allowance(given[i].positive, given[i].negative);
        }
    }

    // --- transfers

    function submitTransfer(AssetTransfer calldata assetTransfer, bytes calldata managerData)
        external
        nonReentrant
        returns (uint256 tradeId)
    {
        AssetTransfer[] memory transfers = new AssetTransfer[](1);
        transfers[0] = assetTransfer;
        return _submit(transfers, managerData);
    }

    function submitTransfers(AssetTransfer[] calldata assetTransfers, bytes calldata managerData)
        external
        nonReentrant
        returns (uint256 tradeId)
    {
        return _submit(assetTransfers, managerData);
    }

    function assetAdjustment(uint256 accountId, uint256 subId, int256 amount)
        external
        returns (int256 postBalance)
    {
        uint256 tradeId = ++lastTradeId;
        (postBalance,) = _adjust(accountId, msg.sender, subId, amount, tradeId);
        AssetDelta[] memory deltas = new AssetDelta[](1);
        deltas[0] = AssetDelta(msg.sender, subId, amount);
        _notifyManager(accountId, tradeId, deltas, "");
    }

    function managerAdjustment(AssetAdjustment calldata adjustment) external returns (int256 postBalance) {
        uint256 accountId = adjustment.acc;
        if (msg.sender != manager[accountId]) revert AC_OnlyManager();
        (postBalance,) = _adjust(accountId, adjustment.asset, adjustment.subId, adjustment.amount, ++lastTradeId);
    }

    function _submit(AssetTransfer[] memory transfers, bytes memory managerData) private returns (uint256 tradeId) {
        tradeId = ++lastTradeId;
        uint256[] memory touched = new uint256[](transfers.length * 2);
        uint256 count = 0;
        for (uint256 i = 0; i < transfers.length; i++) {
            _transferAsset(transfers[i], tradeId);
            count = _remember(touched, count, transfers[i].fromAcc);
            count = _remember(touched, count, transfers[i].toAcc);
        }
        for (uint256 i = 0; i < count; i++) {
            _notifyManager(touched[i], tradeId, _deltasOf(touched[i], transfers), managerData);
        }
    }

    function _transferAsset(AssetTransfer memory t, uint256 tradeId) private {
        if (t.fromAcc == t.toAcc) revert AC_CannotTransferAssetToOneself(msg.sender, t.toAcc);
        _adjustWithConsent(t.fromAcc, t, -t.amount, tradeId);
        _adjustWithConsent(t.toAcc, t, t.amount, tradeId);
        emit AssetTransferred(t.fromAcc, t.toAcc, t.asset, t.subId, t.amount, t.assetData, tradeId);
    }

    function _adjustWithConsent(uint256 accountId, AssetTransfer memory t, int256 amount, uint256 tradeId) private {
        (, bool needsAllowance) = _adjust(accountId, t.asset, t.subId, amount, tradeId);
        if (needsAllowance && amount != 0) _spendAllowance(accountId, t.asset, amount);
    }

    function _spendAllowance(uint256 accountId, address asset, int256 amount) private {
        address owner = _ownerOf(accountId);
        if (_isAuthorized(owner, msg.sender, accountId)) return;
        Allowance storage allowance = allowances[accountId][owner][asset][msg.sender];
        uint256 needed = SignedMath.abs(amount);
        uint256 given = amount > 0 ? allowance.positive : allowance.negative;
        if (given < needed) revert NotEnoughSubIdOrAssetAllowances(msg.sender, accountId, amount, 0, given);
        if (given == type(uint256).max) return;
        if (amount > 0) allowance.positive = given - needed;
        else allowance.negative = given - needed;
    }

    // --- balances

    function _adjust(uint256 accountId, address asset, uint256 subId, int256 amount, uint256 tradeId)
        private
        returns (int256 post, bool needsAllowance)
    {
        BalanceAndOrder storage slot = balanceAndOrder[accountId][asset][subId];
        int256 pre = slot.balance;
        (post, needsAllowance) = IAsset(asset).handleAdjustment(accountId, subId, amount, pre, tradeId);
        if (pre == 0 && post != 0) slot.order = _hold(accountId, asset, subId);
        if (pre != 0 && post == 0) _release(accountId, slot);
        slot.balance = post.toInt240();
        bytes32 assetAndSubId = bytes32((uint256(uint160(asset)) << 96) | subId);
        emit BalanceAdjusted(accountId, manager[accountId], assetAndSubId, amount, pre, post, tradeId);
    }

    function _hold(uint256 accountId, address asset, uint256 subId) private returns (uint16 order) {
        order = heldAssets[accountId].length.toUint16();
        heldAssets[accountId].push(HeldAsset(asset, subId.toUint96()));
    }

    function _release(uint256 accountId, BalanceAndOrder storage slot) private {
        HeldAsset[] storage held = heldAssets[accountId];
        HeldAsset memory last = held[held.length - 1];
        held[slot.order] = last;
        balanceAndOrder[accountId][last.asset][last.subId].order = slot.order;
        held.pop();
        slot.order = 0;
    }

    // --- managers

    function _notifyManager(uint256 accountId, uint256 tradeId, AssetDelta[] memory deltas, bytes memory managerData)
        private
    {
        lastAccountTradeId[accountId] = tradeId;
        IManager(manager[accountId]).handleAdjustment(accountId, tradeId, msg.sender, deltas, managerData);
    }

    function _remember(uint256[] memory list, uint256 count, uint256 id) private pure returns (uint256) {
        for (uint256 i = 0; i < count; i++) {
            if (list[i] == id) return count;
        }
        list[count] = id;
        return count + 1;
    }

    /// Net change per asset of one account over all transfers of a call.
    function _deltasOf(uint256 accountId, AssetTransfer[] memory transfers)
        private
        pure
        returns (AssetDelta[] memory deltas)
    {
        deltas = new AssetDelta[](Math.min(MAX_DELTAS_PER_ACCOUNT, transfers.length));
        uint256 count = 0;
        for (uint256 i = 0; i < transfers.length; i++) {
            AssetTransfer memory t = transfers[i];
            if (t.fromAcc == accountId) count = _addDelta(deltas, count, t, -t.amount);
            else if (t.toAcc == accountId) count = _addDelta(deltas, count, t, t.amount);
        }
        assembly ("memory-safe") {
            mstore(deltas, count)
        }
    }

    function _addDelta(AssetDelta[] memory deltas, uint256 count, AssetTransfer memory t, int256 amount)
        private
        pure
        returns (uint256)
    {
        for (uint256 i = 0; i < count; i++) {
            if (deltas[i].asset == t.asset && deltas[i].subId == t.subId) {
                deltas[i].delta += amount;
                return count;
            }
        }
        if (count == deltas.length) revert DL_DeltasTooLong();
        deltas[count] = AssetDelta(t.asset, t.subId, amount);
        return count + 1;
    }

    // --- views

    /// How much of an asset the delegate may still credit to the account, as this owner has allowed it.
    function positiveAssetAllowance(uint256 accountId, address owner, address asset, address delegate)
        external
        view
        returns (uint256)
    {
        return allowances[accountId][owner][asset][delegate].positive;
    }

    function getBalance(uint256 accountId, address asset, uint256 subId) external view returns (int256) {
        return balanceAndOrder[accountId][asset][subId].balance;
    }

    function getAccountBalances(uint256 accountId) external view returns (AssetBalance[] memory balances) {
        HeldAsset[] storage held = heldAssets[accountId];
        balances = new AssetBalance[](held.length);
        for (uint256 i = 0; i < held.length; i++) {
            HeldAsset memory h = held[i];
            balances[i] = AssetBalance(h.asset, h.subId, balanceAndOrder[accountId][h.asset][h.subId].balance);
        }
    }

    function getUniqueAssets(uint256 accountId) external view returns (address[] memory assets) {
        HeldAsset[] storage held = heldAssets[accountId];
        assets = new address[](held.length);
        uint256 count = 0;
        for (uint256 i = 0; i < held.length; i++) {
            uint256 j = 0;
            while (j < count && assets[j] != held[i].asset) j++;
            if (j == count) assets[count++] = held[i].asset;
        }
        assembly ("memory-safe") {
            mstore(assets, count)
        }
    }
}
