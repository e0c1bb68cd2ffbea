// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {
    AssetBalance,
    AssetDelta,
    ICappedAsset,
    IDataReceiver,
    IManager,
    ISubAccounts,
    ManagerData
} from "./interfaces.sol";

/// Margin rules of the accounts under it, without leverage: whitelisted assets only, caps, no cash debt, and a
/// guardian who can stop every change.
contract StandardManager is IManager, Ownable {
    struct AssetDetail {
        bool isWhitelisted;
        uint8 assetType;
        uint256 marketId;
    }

    uint256 public constant maxAccountSize = 128;
    bool public constant borrowingEnabled = false;

    ISubAccounts public immutable subAccounts;
    address public immutable cashAsset;
    address public guardian;
    bool public adjustmentsPaused;
    uint256 public lastMarketId;
    mapping(address callee => bool) public whitelistedCallee;
    mapping(uint256 marketId => mapping(uint8 assetType => address asset)) public assetMap;
    mapping(address asset => AssetDetail) private details;

    event AdjustmentsPausedSet(bool paused);
    event AssetWhitelisted(address asset, uint256 marketId, uint8 assetType);
    event GuardianSet(address guardian);
    event MarketCreated(uint256 marketId, string marketName);

    error BM_AdjustmentsPaused();
    error BM_AssetCapExceeded();
    error BM_GuardianOnly();
    error BM_OnlyAccounts();
    error BM_UnauthorizedCall();
    error SRM_MarketNotCreated();
    error SRM_NoNegativeCash();
    error SRM_TooManyAssets();
    error SRM_UnsupportedAsset();

    constructor(ISubAccounts subAccounts_, address cashAsset_) Ownable(msg.sender) {
        subAccounts = subAccounts_;
        cashAsset = cashAsset_;
    }

    // --- settings

    function createMarket(string calldata _marketName) external onlyOwner returns (uint256 marketId) {
        marketId = ++lastMarketId;
        emit MarketCreated(marketId, _marketName);
    }

    function whitelistAsset(address _asset, uint256 _marketId, uint8 _type) external onlyOwner {
        if (_marketId == 0 || _marketId > lastMarketId) revert SRM_MarketNotCreated();
        details[_asset] = AssetDetail(true, _type, _marketId);
        assetMap[_marketId][_type] = _asset;
        emit AssetWhitelisted(_asset, _marketId, _type);
    }

    function setWhitelistedCallee(address callee, bool whitelisted) external onlyOwner {
        whitelistedCallee[callee] = whitelisted;
    }

    function setGuardian(address _guardian) external onlyOwner {
        guardian = _guardian;
        emit GuardianSet(_guardian);
    }

    function setAdjustmentsPaused(bool _paused) external {
        if (msg.sender != guardian) revert BM_GuardianOnly();
        adjustmentsPaused = _paused;
        emit AdjustmentsPausedSet(_paused);
    }

    // --- checks

    function handleAdjustment(
        uint256 accountId,
        uint256 tradeId,
        address,
        AssetDelta[] calldata deltas,
        bytes calldata managerData
    ) external {
        if (msg.sender != address(subAccounts)) revert BM_OnlyAccounts();
        if (adjustmentsPaused) revert BM_AdjustmentsPaused();
        _deliver(managerData);
        AssetBalance[] memory held = subAccounts.getAccountBalances(accountId);
        _checkCaps(held, tradeId);
        int256 cashDelta = _checkDeltas(deltas);
        if (held.length > maxAccountSize) revert SRM_TooManyAssets();
        if (cashDelta < 0 && getMargin(accountId, true) < 0) revert SRM_NoNegativeCash();
    }

    function _deliver(bytes calldata managerData) private {
        if (managerData.length == 0) return;
        ManagerData[] memory items = abi.decode(managerData, (ManagerData[]));
        for (uint256 i = 0; i < items.length; i++) {
            if (!whitelistedCallee[items[i].receiver]) revert BM_UnauthorizedCall();
            IDataReceiver(items[i].receiver).acceptData(items[i].data);
        }
    }

    /// A total above its cap may shrink, but not grow.
    function _checkCaps(AssetBalance[] memory held, uint256 tradeId) private view {
        for (uint256 i = 0; i < held.length; i++) {
            if (held[i].asset == cashAsset) continue;
            ICappedAsset asset = ICappedAsset(held[i].asset);
            uint256 total = asset.totalPosition(address(this));
            if (total <= asset.totalPositionCap(address(this))) continue;
            if (total > asset.totalPositionBefore(address(this), tradeId)) revert BM_AssetCapExceeded();
        }
    }

    function _checkDeltas(AssetDelta[] calldata deltas) private view returns (int256 cashDelta) {
        for (uint256 i = 0; i < deltas.length; i++) {
            if (deltas[i].asset == cashAsset) cashDelta += deltas[i].delta;
            else if (!details[deltas[i].asset].isWhitelisted) revert SRM_UnsupportedAsset();
        }
    }

    // --- views

    /// Nothing here is marked or lent against, so the margin of an account is its cash.
    function getMargin(uint256 accountId, bool) public view returns (int256 margin) {
        return subAccounts.getBalance(accountId, cashAsset, 0);
    }

    function assetDetails(address asset) external view returns (AssetDetail memory) {
        return details[asset];
    }
}
