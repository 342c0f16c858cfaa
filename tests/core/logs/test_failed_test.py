"""What runners of tests print: which tests failed, why, and in which file."""

import pytest

from graphmem.core.logs.output_problem import problems

PYTEST = """F.F.                                                                     [100%]
=================================== FAILURES ===================================
_______________________________ test_total_price _______________________________

    def test_total_price():
>       assert cart.total() == 4
E       assert 3 == 4
E        +  where 3 = total()

tests/test_cart.py:12: AssertionError
----------------------------- Captured stdout call -----------------------------
Error: this was only logged by it
________________________ TestApi.test_login[bad-token] _________________________

tests/test_api.py:30:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
    def get(self, path, token):
>       return known[token]
E       KeyError: 'x'

shop/client.py:44: KeyError

During handling of the above exception, another exception occurred:

>       raise PermissionDenied(f"token {token!r} is not valid for {path}")
E       shop.errors.PermissionDenied: token 'x' is not valid for /me

shop/client.py:46: PermissionDenied
=========================== short test summary info ============================
FAILED tests/test_cart.py::test_total_price - assert 3 == 4
FAILED tests/test_api.py::TestApi::test_login[bad-token] - shop.errors.Permis...
2 failed, 2 passed in 0.12s
"""
JEST = """ FAIL  src/cart.test.ts
  ● Cart › adds up prices

    expect(received).toBe(expected) // Object.is equality

    Expected: 4
    Received: 3

    > 12 |     expect(cart.total()).toBe(new Error("this is code"));
         |                          ^

      at Object.<anonymous> (src/cart.test.ts:12:26)

  ● Cart › loads the user

    TypeError: Cannot read properties of undefined (reading 'name')

      at next (node_modules/express/lib/router/route.js:144:13)
      at Cart.load (src/cart.ts:21:27)

  console.error
    Error: this was only logged by it

 PASS  src/other.test.ts
Tests:       2 failed, 3 passed, 5 total
npm ERR! Test failed.  See above for more details.
"""
VITEST = """ ❯ src/cart.test.ts (3 tests | 2 failed) 12ms
⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  src/cart.test.ts > Cart > adds up prices
AssertionError: expected 3 to be 4 // Object.is equality

- Expected
+ Received

 ❯ src/cart.test.ts:12:26
     10|     const cart = new Cart();

⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[1/1]⎯
      Tests  1 failed | 1 passed (2)
"""
MOCHA = """  1 passing (8ms)
  1 failing

  1) Cart
       adds up prices:

      AssertionError [ERR_ASSERTION]: 3 == 4
      at Context.<anonymous> (test/cart.js:9:12)
"""
CARGO = """test tests::adds_up ... FAILED
test tests::starts_empty ... ok

failures:

---- tests::adds_up stdout ----
thread 'tests::adds_up' panicked at src/lib.rs:20:9:
assertion `left == right` failed
  left: 3
 right: 4
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

failures:
    tests::adds_up

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass `--lib`
"""
SUREFIRE = """[INFO] Running com.shop.CartTest
[ERROR] Tests run: 3, Failures: 1, Errors: 1, Skipped: 0, Time elapsed: 0.05 s <<< FAILURE! -- in com.shop.CartTest
[ERROR] com.shop.CartTest.addsUp -- Time elapsed: 0.01 s <<< FAILURE!
org.opentest4j.AssertionFailedError: expected: <4> but was: <3>
\tat org.junit.jupiter.api.AssertionUtils.fail(AssertionUtils.java:55)
\tat com.shop.CartTest.addsUp(CartTest.java:14)

[ERROR] com.shop.CartTest.loads -- Time elapsed: 0.002 s <<< ERROR!
java.lang.NullPointerException: Cannot invoke "com.shop.User.name()" because "user" is null
\tat com.shop.Cart.load(Cart.java:22)

[INFO] Results:
[ERROR] Failures:
[ERROR]   CartTest.addsUp:14 expected: <4> but was: <3>
[INFO] BUILD FAILURE
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.2.5:test: There are test failures.
"""
GRADLE = """> Task :test FAILED

CartTest > addsUp() FAILED
    org.opentest4j.AssertionFailedError: expected: <4> but was: <3>
        at org.junit.jupiter.api.AssertionUtils.fail(AssertionUtils.java:55)
        at com.shop.CartTest.addsUp(CartTest.java:14)

3 tests completed, 1 failed

FAILURE: Build failed with an exception.
"""
RSPEC = """Failures:

  1) Cart adds up prices
     Failure/Error: expect(cart.total).to eq(4)

       expected: 4
            got: 3
     # ./spec/cart_spec.rb:9:in `block (2 levels) in <top (required)>'

  2) Cart loads the user
     Failure/Error: user.name

     NoMethodError:
       undefined method `name' for nil:NilClass
     # ./lib/cart.rb:12:in `load'

Finished in 0.01 seconds (files took 0.1 seconds to load)
rspec ./spec/cart_spec.rb:7 # Cart adds up prices
"""
UNITTEST = """FAIL: test_add (tests.test_calc.CalcTest.test_add)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/home/dev/tests/test_calc.py", line 9, in test_add
    self.assertEqual(add(1, 2), 4)
AssertionError: 3 != 4

----------------------------------------------------------------------
Ran 2 tests in 0.000s
"""
PHPUNIT = """There was 1 failure:

1) CartTest::testAddsUp
Failed asserting that 3 matches expected 4.

/home/dev/shop/tests/CartTest.php:14

FAILURES!
"""
DOTNET = """  Failed Shop.Tests.CartTests.AddsUp [5 ms]
  Error Message:
   Assert.Equal() Failure: Values differ
Expected: 4
Actual:   3
  Stack Trace:
     at Shop.Tests.CartTests.AddsUp() in /home/dev/CartTests.cs:line 14
"""


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (PYTEST, [("test", "assert 3 == 4", "tests/test_cart.py"), ("error", "KeyError: 'x'", "shop/client.py"),
                  ("error", "shop.errors.PermissionDenied: token 'x' is not valid for /me", "shop/client.py")]),
        (JEST, [("test", "expect(received).toBe(expected) // Object.is equality", "src/cart.test.ts"),
                ("error", "TypeError: Cannot read properties of undefined (reading 'name')", "src/cart.ts")]),
        (VITEST, [("test", "AssertionError: expected 3 to be 4 // Object.is equality", "")]),
        (MOCHA, [("test", "AssertionError [ERR_ASSERTION]: 3 == 4", "test/cart.js")]),
        (CARGO, [("test", "assertion `left == right` failed", "")]),
        (SUREFIRE, [("test", "org.opentest4j.AssertionFailedError: expected: <4> but was: <3>", "CartTest.java"),
                    ("error",
                     'java.lang.NullPointerException: Cannot invoke "com.shop.User.name()" because "user" is null',
                     "Cart.java")]),
        (GRADLE, [("test", "org.opentest4j.AssertionFailedError: expected: <4> but was: <3>", "CartTest.java")]),
        (RSPEC, [("test", "Failure/Error: expect(cart.total).to eq(4)", "./spec/cart_spec.rb"),
                 ("error", "NoMethodError: undefined method `name' for nil:NilClass", "./lib/cart.rb")]),
        (UNITTEST, [("test", "AssertionError: 3 != 4", "/home/dev/tests/test_calc.py")]),
        (PHPUNIT, [("test", "Failed asserting that 3 matches expected 4.", "")]),
        (DOTNET, [("test", "Assert.Equal() Failure: Values differ", "")]),
    ],
)  # fmt: skip
def test_a_test_that_failed_is_told_by_what_went_wrong_in_it(output: str, expected: list[tuple[str, str, str]]) -> None:
    assert [(found.sort, found.text.splitlines()[-1], found.file) for found in problems(output)] == expected


def test_where_only_the_summary_of_pytest_is_shown_it_says_why() -> None:
    output = (
        "FAILED tests/test_a.py::TestA::test_x[1] - assert 3 == 4\nFAILED tests/test_a.py::test_y - KeyError: 'rate'\n"
    )
    assert [(found.sort, found.text) for found in problems(output)] == [
        ("test", "FAILED tests/test_a.py::TestA::test_x[1] - assert 3 == 4"), ("error", "KeyError: 'rate'"),
    ]  # fmt: skip


def test_the_summary_may_say_why_where_the_block_of_a_test_does_not() -> None:
    block = "___________________ test_x ___________________\n=== short test summary info ===\n"
    (found,) = problems(f"{block}FAILED a/test_x.py::test_x - assert False")
    assert found.text.splitlines()[-1] == "assert False"


def test_the_values_of_a_check_are_no_part_of_what_finds_it_again() -> None:
    first, second = (problems(UNITTEST.replace("3 !=", f"{number} !="))[0] for number in (3, 2))
    assert first.key == second.key
    assert first.text != second.text


def test_what_a_test_that_passes_prints_is_no_failure() -> None:
    quiet = "tests/test_retry.py Error: connection refused by the test\nValueError: try again, said the test\n"
    assert [found.text for found in problems(quiet + PYTEST)] == [found.text for found in problems(PYTEST)]
