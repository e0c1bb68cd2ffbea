// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC721} from "@openzeppelin/contracts/token/ERC721/IERC721.sol";

/// A signed action; the EIP-712 struct of the venue.
struct Action {
    uint256 subaccountId;
    uint256 nonce;
    address module;
    bytes data;
    uint256 expiry;
    address owner;
    address signer;
}

/// An action whose expiry, owner, signer and signature have been checked by Matching.
struct VerifiedAction {
    uint256 subaccountId;
    address owner;
    address module;
    bytes data;
    uint256 nonce;
}

struct AssetBalance {
    address asset;
    uint256 subId;
    int256 balance;
}

struct AssetAllowance {
    address asset;
    uint256 positive;
    uint256 negative;
}

struct AssetTransfer {
    uint256 fromAcc;
    uint256 toAcc;
    address asset;
    uint256 subId;
    int256 amount;
    bytes32 assetData;
}

/// One side of a change of balance.
struct AssetAdjustment {
    uint256 acc;
    address asset;
    uint256 subId;
    int256 amount;
    bytes32 assetData;
}

struct AssetDelta {
    address asset;
    uint256 subId;
    int256 delta;
}

struct ManagerData {
    address receiver;
    bytes data;
}

interface IModule {
    /// Runs while the module holds the NFTs of all accounts named by the actions; must give them back.
    /// Returns accounts it created and the owners Matching shall record for them.
    function executeAction(VerifiedAction[] calldata actions, bytes calldata actionData)
        external
        returns (uint256[] memory newIds, address[] memory newOwners);
}

interface IMatching {
    function subAccountToOwner(uint256 accountId) external view returns (address);
    function depositSubAccountFor(uint256 accountId, address recipient) external;
}

interface ISubAccounts is IERC721 {
    function manager(uint256 accountId) external view returns (address);
    function createAccount(address owner, address manager_) external returns (uint256 newId);
    function getBalance(uint256 accountId, address asset, uint256 subId) external view returns (int256 balance);
    function getAccountBalances(uint256 accountId) external view returns (AssetBalance[] memory);
    function lastAccountTradeId(uint256 accountId) external view returns (uint256 tradeId);
    function submitTransfer(AssetTransfer calldata assetTransfer, bytes calldata managerData)
        external
        returns (uint256 tradeId);
    function submitTransfers(AssetTransfer[] calldata transfers, bytes calldata managerData)
        external
        returns (uint256 tradeId);
    /// Mints (positive) or burns (negative) the calling asset on one account.
    function assetAdjustment(uint256 accountId, uint256 subId, int256 amount) external returns (int256 postBalance);
    /// One side of a change, made by the account's manager; no hook of a manager follows.
    function managerAdjustment(AssetAdjustment calldata adjustment) external returns (int256 postBalance);
}

interface IAsset {
    /// Called by SubAccounts before a balance changes. Returns the balance to store, and whether the caller of the
    /// transfer needs the account's consent for this change.
    function handleAdjustment(uint256 accountId, uint256 subId, int256 amount, int256 preBalance, uint256 tradeId)
        external
        returns (int256 postBalance, bool needsAllowance);
}

interface ITokenAsset is IAsset {
    function wrappedAsset() external view returns (address);
    function deposit(uint256 recipientAccount, uint256 assetAmount) external;
    function withdraw(uint256 accountId, uint256 assetAmount, address recipient) external;
}

interface ICappedAsset is IAsset {
    function totalPosition(address manager) external view returns (uint256);
    function totalPositionCap(address manager) external view returns (uint256);
    /// The total before the trade changed it first; the current total if the trade has not touched it.
    function totalPositionBefore(address manager, uint256 tradeId) external view returns (uint256);
}

interface IMarkedAsset {
    function getIndexPrice() external view returns (uint256 price, uint256 confidence);
    function getPerpPrice() external view returns (uint256 price, uint256 confidence);
}

interface IManager {
    /// Called once per account after all balances of a trade changed; reverts to refuse the trade.
    function handleAdjustment(
        uint256 accountId,
        uint256 tradeId,
        address caller,
        AssetDelta[] calldata deltas,
        bytes calldata managerData
    ) external;
}

interface IDataReceiver {
    function acceptData(bytes calldata data) external;
}

interface ISpotFeed {
    /// Price and confidence, both with 18 decimals; reverts when the price is stale.
    function getSpot() external view returns (uint256 price, uint256 confidence);
}

interface ISpotDiffFeed {
    /// Price and confidence, both with 18 decimals; reverts when either part is stale.
    function getResult() external view returns (uint256 price, uint256 confidence);
}

interface ICashAsset is ITokenAsset {
    /// Counts cash that a settlement of positions created (positive) or removed (negative).
    function updateSettledCash(int256 amountCash) external;
    /// Creates the cash that a bidder is owed and the security module lacks.
    function socializeLoss(uint256 lossAmountInCash, uint256 accountToReceive) external;
}

interface IPerpAsset is ICappedAsset, IMarkedAsset {
    /// Cash that the account would gain if it were settled now.
    function getUnsettledAndUnrealizedCash(uint256 accountId) external view returns (int256 totalCash);
    function realizeAccountPNL(uint256 accountId) external;
    /// Clears what was realised; the calling manager must credit it in cash.
    function settleRealizedPNLAndFunding(uint256 accountId) external returns (int256 pnl, int256 funding);
}

interface IAuction {
    function isAuctionLive(uint256 accountId) external view returns (bool);
    function getIsWithdrawBlocked() external view returns (bool);
}

interface ILiquidatableManager is IManager {
    function getMarginAndMarkToMarket(uint256 accountId, bool isInitial, uint256 scenarioId)
        external
        view
        returns (int256 margin, int256 markToMarket);
    function settleInterest(uint256 accountId) external;
    function settlePerpsWithIndex(uint256 accountId) external;
    function payLiquidationFee(uint256 accountId, uint256 recipient, uint256 cashAmount) external;
    /// Moves a portion of the account to the bidder, and the bidder's cash to the account.
    function executeBid(
        uint256 accountId,
        uint256 liquidatorId,
        uint256 portion,
        uint256 bidAmount,
        uint256 reservedCash
    ) external;
}

interface ISecurityModule {
    function accountId() external view returns (uint256);
    /// Pays cash to the account as far as there is any; returns what was paid.
    function requestPayout(uint256 accountId, uint256 cashAmountNeeded) external returns (uint256 paid);
}
