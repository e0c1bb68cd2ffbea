// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// A wallet that one key speaks for, until it is locked.
contract KeyWallet {
    address public immutable key;
    bool public locked;

    constructor(address key_) {
        key = key_;
    }

    function lock() external {
        locked = true;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        (address recovered,,) = ECDSA.tryRecover(hash, signature);
        return recovered == key && !locked ? bytes4(0x1626ba7e) : bytes4(0);
    }
}

/// Code for a plain key to delegate to: the key goes on to speak for its own address.
contract SelfKeyWallet {
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        (address recovered,,) = ECDSA.tryRecover(hash, signature);
        return recovered == address(this) ? bytes4(0x1626ba7e) : bytes4(0);
    }
}

/// Code without the method, as many delegates are.
contract DeafWallet {
    function ping() external pure returns (uint256) {
        return 1;
    }
}

contract RevertingWallet {
    error NoComment(string reason);

    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        revert NoComment(new string(1000));
    }
}

/// The right four bytes with something behind them, which is not the word that the chain compares with.
contract JunkWallet {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes32) {
        return bytes32(bytes4(0x1626ba7e)) | bytes32(uint256(1));
    }
}

/// Answers a megabyte, or as much of it as its gas allows to be asked for.
contract ShoutingWallet {
    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        uint256 size = gasleft() > 5_000_000 ? 1 << 20 : 400_000;
        assembly {
            return(0, size)
        }
    }
}

contract BurningWallet {
    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        uint256 n;
        while (gasleft() > 0) n = uint256(keccak256(abi.encode(n)));
        return bytes4(0x1626ba7e);
    }
}

interface IERC1271 {
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4);
}

/// A proxy as a Safe has it: all that it is asked is the code of a singleton, on its own storage.
contract SafeLikeProxy {
    address private singleton;
    address private fallbackHandler;
    mapping(address => bool) private owners;

    constructor(address singleton_, address handler, address owner) {
        singleton = singleton_;
        fallbackHandler = handler;
        owners[owner] = true;
    }

    fallback() external payable {
        address to = singleton;
        assembly {
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), to, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            switch ok
            case 0 { revert(0, returndatasize()) }
            default { return(0, returndatasize()) }
        }
    }
}

/// The singleton of a Safe: it reads its owners, and calls a handler for what it does not know, with the caller behind the data.
contract SafeLikeSingleton {
    address private singleton;
    address private fallbackHandler;
    mapping(address => bool) private owners;

    function checkSignatures(bytes32 hash, bytes calldata signature) external view {
        (address recovered,,) = ECDSA.tryRecover(hash, signature);
        require(owners[recovered], "GS026");
    }

    fallback() external payable {
        address handler = fallbackHandler;
        assembly {
            calldatacopy(0, 0, calldatasize())
            mstore(calldatasize(), shl(96, caller()))
            let ok := call(gas(), handler, 0, 0, add(calldatasize(), 20), 0, 0)
            returndatacopy(0, 0, returndatasize())
            switch ok
            case 0 { revert(0, returndatasize()) }
            default { return(0, returndatasize()) }
        }
    }
}

/// The handler of a Safe: it asks its caller back.
contract SafeLikeHandler {
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        SafeLikeSingleton(payable(msg.sender)).checkSignatures(hash, signature);
        return 0x1626ba7e;
    }
}

/// Judges for modular accounts: the account's owner, which is a contract itself, is asked in turn.
contract OwnerValidator {
    mapping(address account => address owner) public owners;

    function install(address owner) external {
        owners[msg.sender] = owner;
    }

    function isValidSignatureFor(address account, bytes32 hash, bytes calldata signature)
        external
        view
        returns (bytes4)
    {
        return IERC1271(owners[account]).isValidSignature(hash, signature);
    }
}

/// An account as ERC-4337 and ERC-7579 have them: a module that it has installed judges signatures.
contract ModularWallet {
    OwnerValidator private immutable validator;

    constructor(OwnerValidator validator_, address owner) {
        validator = validator_;
        validator_.install(owner);
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        return validator.isValidSignatureFor(address(this), hash, signature);
    }
}
