"""What was meant by a name that nothing has."""

import pytest

from graphmem.kernel.suggest import did_you_mean

NAMES = ["class/shop.Cart", "function/shop.Cart.pay", "function/shop.Cart.add", "failure/cart", "failure/import-error"]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("import-eror", "did you mean failure/import-error?"),
        ("Cart", "did you mean class/shop.Cart?"),
        ("cart", "did you mean failure/cart?"),
        ("Cart.pay", "did you mean function/shop.Cart.pay?"),
        ("port-e", "did you mean failure/import-error?"),
        ("nothing of the kind", None),
    ],
)
def test_the_last_part_of_a_name_goes_before_what_is_spelt_alike(name: str, hint: str | None) -> None:
    assert did_you_mean(name, NAMES) == hint
