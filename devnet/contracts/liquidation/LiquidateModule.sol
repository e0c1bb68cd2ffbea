// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {BaseModule, OneTimeModule} from "../BaseModule.sol";
import {AssetBalance, AssetTransfer, IMatching, ISubAccounts, VerifiedAction} from "../interfaces.sol";
import {DutchAuction} from "./DutchAuction.sol";

/// Bids in an auction for the owner of the action: opens an account that holds only cash, bids from it, and hands it to
/// the owner or merges what it bought into the owner's account.
contract LiquidateModule is OneTimeModule {
    using SafeCast for uint256;

    struct LiquidationData {
        uint256 liquidatedAccountId;
        uint256 cashTransfer;
        uint256 percentOfAcc;
        int256 priceLimit;
        uint256 lastSeenTradeId;
        bool mergeAccount;
    }

    DutchAuction public immutable auction;
    address public immutable cashAsset;

    error LM_InvalidFromAccount();
    error LM_InvalidLiquidateActionLength();

    constructor(IMatching matching_, ISubAccounts subAccounts_, DutchAuction auction_)
        BaseModule(matching_, subAccounts_)
    {
        auction = auction_;
        cashAsset = address(auction_.cash());
    }

    function executeAction(VerifiedAction[] calldata actions, bytes calldata managerData)
        external
        onlyMatching
        returns (uint256[] memory newIds, address[] memory newOwners)
    {
        if (actions.length != 1) revert LM_InvalidLiquidateActionLength();
        VerifiedAction calldata action = actions[0];
        LiquidationData memory data = abi.decode(action.data, (LiquidationData));
        if (action.subaccountId == 0) revert LM_InvalidFromAccount();
        _useNonce(action.owner, action.nonce);

        uint256 bidderId =
            subAccounts.createAccount(address(this), subAccounts.manager(data.liquidatedAccountId));
        int256 cash = data.cashTransfer.toInt256();
        subAccounts.submitTransfer(
            AssetTransfer(action.subaccountId, bidderId, cashAsset, 0, cash, bytes32(0)), managerData
        );
        auction.bid(
            data.liquidatedAccountId, bidderId, data.percentOfAcc, data.priceLimit, data.lastSeenTradeId
        );
        if (data.mergeAccount) {
            _merge(bidderId, action.subaccountId);
        } else {
            newIds = new uint256[](1);
            newOwners = new address[](1);
            newIds[0] = bidderId;
            newOwners[0] = action.owner;
            _returnAccount(bidderId);
        }
        _returnAccounts(actions);
    }

    function _merge(uint256 from, uint256 to) private {
        AssetBalance[] memory held = subAccounts.getAccountBalances(from);
        AssetTransfer[] memory transfers = new AssetTransfer[](held.length);
        for (uint256 i = 0; i < held.length; i++) {
            transfers[i] = AssetTransfer(from, to, held[i].asset, held[i].subId, held[i].balance, bytes32(0));
        }
        subAccounts.submitTransfers(transfers, "");
    }
}
