//! Functions that give the same bits on every machine.

/// Elementary functions of `f64` that give the same bits on every machine (the crate `libm`, from
/// musl), as those of C libraries do not, so that a report is the same bytes wherever it is made.
pub trait Exact: Into<f64> + Copy {
    /// The logarithm to the base e.
    fn natural_log(self) -> f64 {
        libm::log(self.into())
    }

    /// The logarithm to the base 10.
    fn decimal_log(self) -> f64 {
        libm::log10(self.into())
    }

    /// e to this power.
    fn exponential(self) -> f64 {
        libm::exp(self.into())
    }

    /// e to this power, less 1, exact where that is small.
    fn exponential_less_1(self) -> f64 {
        libm::expm1(self.into())
    }

    /// The natural logarithm of 1 and this, exact where this is small.
    fn log_of_1_plus(self) -> f64 {
        libm::log1p(self.into())
    }

    /// This to a power.
    fn to_the_power(self, power: f64) -> f64 {
        libm::pow(self.into(), power)
    }

    /// The sine of an angle in radians.
    fn sine(self) -> f64 {
        libm::sin(self.into())
    }

    /// The root of the sum of this squared and another squared.
    fn hypotenuse(self, other: f64) -> f64 {
        libm::hypot(self.into(), other)
    }
}

impl Exact for f64 {}
